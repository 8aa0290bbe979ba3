"""As many stories as are wanted: `python -m tests.strict 20000 [first seed]`."""

import sys
import time
from collections import Counter

from tests.strict.story import Story
from tests.support.seed import seed_of


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else seed_of("strict")
    began, judged = time.monotonic(), 0
    broken: Counter[str] = Counter()
    for seed in range(first, first + count):
        story = Story(seed).run()
        judged += story.judged
        for refused in story.refused:
            name = f"{refused.vendor}: {refused.refusal.rule}"
            if not broken[name]:
                sys.stdout.write(f"seed {seed}: {refused}\n")
            broken[name] += 1
    took = time.monotonic() - began
    sys.stdout.write(
        f"{count} stories from seed {first}: {judged} requests judged in {took:.0f} s, "
        f"{broken.total()} refused\n"
    )
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
