"""Old results make room in steps, and what comes before a step stays as it was told."""

from tenuto.agent.sizes import size_of
from tenuto.agent.trimming import clear_old, squeeze
from tenuto.core.value import CallId
from tenuto.ports.model import (
    AssistantTurn,
    FileBlock,
    TextBlock,
    ToolCall,
    ToolTurn,
    Turn,
    UserTurn,
)

WINDOW = 100_000


def looked(number: int, size: int = 2_000) -> list[Turn]:
    call = ToolCall(id=CallId(f"call{number:05}"), name="look", arguments="{}")
    result = ToolTurn(call_id=call.id, name="look", output=f"{number:05}" * (size // 5))
    return [AssistantTurn(blocks=(call,)), result]


def run_of(steps: int) -> list[Turn]:
    turns: list[Turn] = [UserTurn(blocks=(TextBlock(text="Go"),))]
    for number in range(steps):
        turns += looked(number)
    return turns


def whole(turns: tuple[Turn, ...]) -> list[bool]:
    return [len(turn.output) > 1_000 for turn in turns if isinstance(turn, ToolTurn)]


def test_nothing_is_cleared_before_the_window_is_rather_full() -> None:
    turns = tuple(run_of(29))
    assert clear_old(turns, window=WINDOW) == turns


def test_then_all_but_the_newest_results_are_cleared_at_once() -> None:
    kept = whole(clear_old(run_of(30), window=WINDOW))
    # A quarter of the window is kept: twelve results and what is around them.
    assert kept == [False] * 18 + [True] * 12


def test_a_request_begins_as_the_one_before_it_nearly_always() -> None:
    changes = 0
    before: tuple[Turn, ...] = ()
    for steps in range(1, 200):
        turns = clear_old(run_of(steps), window=WINDOW)
        changes += turns[: len(before)] != before
        before = turns
    # 398 kB went by; a clearing makes room for at least a tenth of the window.
    assert 1 <= changes <= 30


def test_what_still_does_not_fit_is_cut_the_oldest_first() -> None:
    texts = [UserTurn(blocks=(TextBlock(text=letter * 20_000),)) for letter in "ab"]
    turns: tuple[Turn, ...] = (texts[0], *looked(1), texts[1])
    smaller = squeeze(turns, to=30_000)
    assert size_of(smaller) <= 30_000
    assert whole(smaller) == [False]
    assert smaller[0] != texts[0]
    assert smaller[-1] == texts[1]
    assert squeeze(turns, to=100_000) == turns


def test_languages_are_measured_alike() -> None:
    """Four bytes a token: a Chinese character is most of one, a Latin letter a quarter."""
    chinese = [UserTurn(blocks=(TextBlock(text="潮" * 1_000),))]
    latin = [UserTurn(blocks=(TextBlock(text="t" * 1_000),))]
    assert size_of(chinese) - size_of(latin) == 2_000


def test_large_files_give_way_before_words_do_and_can_still_be_read() -> None:
    files = [
        FileBlock(id=f"fil_{n}", name=f"{n}.txt", media_type="text/plain", content=b"x" * 50_000)
        for n in range(3)
    ]
    words = TextBlock(text="y" * 10_000)
    turns: tuple[Turn, ...] = tuple(UserTurn(blocks=(file, words)) for file in files)
    smaller = squeeze(turns, to=100_000)
    assert size_of(smaller) <= 100_000
    note = "[The file 0.txt was left out to save space; read_file with path file:fil_0 reads it.]"
    assert smaller[0] == UserTurn(blocks=(TextBlock(text=note), words))
    assert smaller[2] == turns[2]
