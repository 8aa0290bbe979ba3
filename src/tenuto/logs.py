"""Logs: one line per event, for people on a terminal and as JSON elsewhere, never a secret."""

import logging
import re
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TextIO
from urllib.parse import quote

import msgspec

from tenuto.config import LogFormat, Secret, Settings

MASK = "***"
SHORT_SECRET = 6
"""A secret below this length is masked only as a whole word: it may be part of any other."""

LOOKS_SECRET = re.compile(
    r"""(?ix)
    ( \b bearer \s+
    | \b basic \s+ (?= [\w+/]{8} )
    | \b (?: \w+ [-_] )? (?: token | key | secret | password | authorization ) ["']? \s* [=:] \s* ["']?
    | \b sk- (?= [\w-]{6} )
    )
    (?! bearer\b | basic\b ) [^\s"'&,;)}\]]+
    """
)

STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
"""What every record has; anything else was given as `extra`."""


def configure(settings: Settings, secrets: Iterable[Secret]) -> "Mask":
    """Send all logs to stderr in the wanted form, with these secrets and their like masked.

    Gives the mask, which may learn of more.

    Run uvicorn with `log_config=None` and `access_log=False`: its errors then come here.
    """
    handler = logging.StreamHandler(sys.stderr)
    mask = Mask(secrets)
    handler.setFormatter(formatter(settings.log.format, mask, sys.stderr))
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("tenuto").setLevel(settings.log.level.upper())
    logging.getLogger("uvicorn.access").disabled = True
    logging.captureWarnings(True)
    return mask


class Mask:
    """Hides the secrets it knows, and whatever looks like one."""

    def __init__(self, secrets: Iterable[Secret]) -> None:
        self._texts: set[str] = set()
        self._known: list[re.Pattern[str]] = []
        self.learn(*secrets)

    def learn(self, *secrets: Secret) -> None:
        """Hide these too from now on."""
        self._texts |= {secret.reveal() for secret in secrets} - {""}
        spellings = self._texts | {quote(text, safe="") for text in self._texts}
        longest_first = sorted(spellings, key=len, reverse=True)
        self._known = [re.compile(_whole_or_part(text)) for text in longest_first]

    def __call__(self, text: str) -> str:
        for known in self._known:
            text = known.sub(MASK, text)
        return LOOKS_SECRET.sub(lambda found: found[1] + MASK, text)


def formatter(form: LogFormat, mask: Mask, stream: TextIO) -> logging.Formatter:
    """The formatter for this stream; `auto` looks whether a person is at its other end."""
    if form is LogFormat.AUTO:
        form = LogFormat.HUMAN if stream.isatty() else LogFormat.JSON
    return HumanFormatter(mask) if form is LogFormat.HUMAN else JsonFormatter(mask)


class HumanFormatter(logging.Formatter):
    """`12:00:00.000 INFO    engine: run finished  run_id=run_1`, tracebacks below."""

    def __init__(self, mask: Mask) -> None:
        super().__init__()
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created).strftime("%H:%M:%S.%f")[:-3]
        name = record.name.removeprefix("tenuto.")
        extras = "".join(f"  {key}={value}" for key, value in _extras(record).items())
        line = f"{at} {record.levelname:<7} {name}: {record.getMessage()}{extras}"
        return self._mask("\n".join([line, *_traceback(self, record)]))


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time, level, logger, event, then what `extra` gave."""

    def __init__(self, mask: Mask) -> None:
        super().__init__()
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields: dict[str, object] = {
            "time": at.removesuffix("+00:00") + "Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        fields |= {key: value for key, value in _extras(record).items() if key not in fields}
        if trace := _traceback(self, record):
            fields["traceback"] = "\n".join(trace)
        return msgspec.json.encode(self._masked(fields)).decode()

    def _masked(self, value: object) -> object:
        # Before the encoding, which may spell a secret differently.
        match value:
            case None | bool() | int() | float():
                return value
            case Mapping():
                return {self._mask(str(key)): self._masked(item) for key, item in value.items()}
            case list() | tuple() | set() | frozenset():
                return [self._masked(item) for item in value]
            case _:
                return self._mask(str(value))


def _extras(record: logging.LogRecord) -> dict[str, object]:
    return {key: value for key, value in record.__dict__.items() if key not in STANDARD}


def _traceback(formatter: logging.Formatter, record: logging.LogRecord) -> list[str]:
    lines = []
    if record.exc_info:
        lines.append(formatter.formatException(record.exc_info))
    if record.stack_info:
        lines.append(formatter.formatStack(record.stack_info))
    return lines


def _whole_or_part(secret: str) -> str:
    escaped = re.escape(secret)
    return escaped if len(secret) >= SHORT_SECRET else rf"(?<!\w){escaped}(?!\w)"
