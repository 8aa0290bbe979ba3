"""What a log line looks like, and what it never shows."""

import io
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tenuto.config import LogFormat, LogLevel, LogSettings, Secret, Settings
from tenuto.logs import Mask, configure

SECRET = "open-sesame-1234"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


Start = Callable[..., io.StringIO]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Configures logging onto a stream that the test can read, and puts all back after."""
    root, ours, access = (logging.getLogger(name) for name in ("", "tenuto", "uvicorn.access"))
    before = (root.handlers[:], root.level, ours.level, access.disabled)

    def begin(
        *,
        stream: io.StringIO | None = None,
        form: LogFormat = LogFormat.AUTO,
        level: LogLevel = LogLevel.INFO,
    ) -> io.StringIO:
        stream = stream or io.StringIO()
        monkeypatch.setattr("sys.stderr", stream)
        log = LogSettings(format=form, level=level)
        configure(Settings(data=tmp_path, log=log), [Secret(SECRET), Secret("t")])
        return stream

    yield begin
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    ours.setLevel(before[2])
    access.disabled = before[3]
    logging.captureWarnings(False)


def test_away_from_a_terminal_each_line_is_json_with_its_ids(start: Start) -> None:
    stream = start()
    logging.getLogger("tenuto.engine").info("run %s", "finished", extra={"run_id": "run_1"})
    line = json.loads(stream.getvalue())
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "info",
        "logger": "tenuto.engine",
        "event": "run finished",
        "run_id": "run_1",
    }


def test_on_a_terminal_a_line_is_for_people(start: Start) -> None:
    stream = start(stream=Terminal())
    logging.getLogger("tenuto.engine").info("run finished", extra={"run_id": "run_1"})
    assert stream.getvalue().endswith("INFO    engine: run finished  run_id=run_1\n")


def test_the_form_can_be_forced(start: Start) -> None:
    stream = start(stream=Terminal(), form=LogFormat.JSON)
    logging.getLogger("tenuto").warning("hm")
    assert json.loads(stream.getvalue())["event"] == "hm"


def test_an_extra_cannot_pose_as_the_event(start: Start) -> None:
    stream = start()
    logging.getLogger("tenuto").info("true", extra={"event": "false", "level": "x"})
    line = json.loads(stream.getvalue())
    assert (line["event"], line["level"]) == ("true", "info")


def test_less_than_the_level_is_left_out(start: Start) -> None:
    stream = start(level=LogLevel.WARNING)
    logging.getLogger("tenuto.api").info("quiet")
    assert stream.getvalue() == ""


@pytest.mark.parametrize("form", [LogFormat.HUMAN, LogFormat.JSON])
def test_a_known_secret_is_shown_nowhere(start: Start, form: LogFormat) -> None:
    stream = start(form=form)
    log = logging.getLogger("tenuto.api")
    log.info("told %s", SECRET)
    log.info("extra", extra={"header": SECRET, "deep": {"list": [SECRET], SECRET: 1}})
    try:
        raise ValueError(f"bad {SECRET}")
    except ValueError:
        log.exception("failed")
    text = stream.getvalue()
    assert "sesame" not in text
    assert "ValueError: bad ***" in text


@pytest.mark.parametrize("form", [LogFormat.HUMAN, LogFormat.JSON])
@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer hunter2hunter2",
        "{'authorization': 'Bearer hunter2hunter2'}",
        "GET /login?token=hunter2hunter2&x=1",
        "key sk-hunter2hunter2",
        "x-api-key: hunter2hunter2",
        '{"api_key": "hunter2hunter2"}',
        "password=hunter2hunter2",
        "Authorization: Basic hunter2hunter2",
    ],
)
def test_what_looks_like_a_secret_is_masked(start: Start, form: LogFormat, text: str) -> None:
    stream = start(form=form)
    logging.getLogger("tenuto").info("saw %s", text, extra={"also": text})
    assert "hunter2" not in stream.getvalue()
    assert stream.getvalue().count("***") >= 2


def test_a_very_short_token_does_not_make_the_log_unreadable(start: Start) -> None:
    stream = start()
    logging.getLogger("tenuto").info("the test told it: t")
    assert json.loads(stream.getvalue())["event"] == "the test told it: ***"


def test_ordinary_words_are_left_alone(start: Start) -> None:
    stream = start()
    said = "the bearer of the token bucket took 5 tokens; task-force, monkey business"
    logging.getLogger("tenuto").info(said)
    assert "took 5 tokens; task-force, monkey business" in json.loads(stream.getvalue())["event"]


def test_the_web_servers_errors_come_through_and_its_access_log_does_not(start: Start) -> None:
    stream = start()
    logging.getLogger("uvicorn.access").error("GET /login")
    logging.getLogger("uvicorn.error").error("broken")
    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["broken"]


def test_a_secret_that_is_learnt_later_is_masked_too() -> None:
    mask = Mask([Secret(SECRET)])
    assert mask("later-secret") == "later-secret"
    mask.learn(Secret("later-secret"), Secret(""))
    assert mask(f"{SECRET} and later-secret and more") == "*** and *** and more"
