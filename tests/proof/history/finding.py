"""What the checker has found, good and bad."""

from collections import Counter

MOST_SHOWN = 20


class Findings:
    """Violations, each under the name of its rule, and how often each rule was tried."""

    def __init__(self) -> None:
        self.violations: list[tuple[str, str]] = []
        self.tried: Counter[str] = Counter()

    def check(self, rule: str, holds: object, said: str) -> bool:
        """Write down that a rule was tried, and what was seen if it does not hold."""
        self.tried[rule] += 1
        if not holds:
            self.violations.append((rule, said))
        return bool(holds)

    def broken(self) -> set[str]:
        return {rule for rule, _ in self.violations}

    def report(self) -> list[str]:
        lines = [f"{count:>9} × {rule}" for rule, count in sorted(self.tried.items())]
        shown = [f"VIOLATION {rule}: {said}" for rule, said in self.violations[:MOST_SHOWN]]
        left = len(self.violations) - len(shown)
        return lines + shown + ([f"… and {left} more"] if left > 0 else [])
