"""Lists and search."""

import pytest
from msgspec.structs import replace

from tenuto.core.error import InvalidInput, NotFound
from tenuto.core.run import RunStatus
from tenuto.core.value import MessageId, SessionId, WorkspaceId
from tenuto.ports.query import RunQuery, SessionQuery
from tenuto.ports.store import Store
from tests.conformance.driven import START, DrivenSession, instant, make_workspace, new_session

pytestmark = pytest.mark.anyio


async def found(store: Store, words: str) -> list[str]:
    page = await store.sessions(SessionQuery(words=words))
    return [session.id.removeprefix("ses_") for session in page.sessions]


async def all_pages(store: Store, query: SessionQuery) -> list[str]:
    ids: list[str] = []
    page = await store.sessions(query)
    ids += [session.id for session in page.sessions]
    while page.next is not None:
        assert len(page.sessions) == query.limit
        page = await store.sessions(replace(query, cursor=page.next))
        ids += [session.id for session in page.sessions]
    return ids


async def test_pages_hold_every_session_once_also_when_times_are_the_same(store: Store) -> None:
    for n in range(11):
        at = instant(n // 4)
        await store.create_session(new_session(f"{n:02}", created_at=at, updated_at=at))
    expected = [f"ses_{n:02}" for n in reversed(range(11))]
    for limit in (1, 2, 5, 11, 50):
        assert await all_pages(store, SessionQuery(limit=limit)) == expected


async def test_a_session_that_moves_up_is_not_shown_twice_nor_hides_another(
    store: Store,
) -> None:
    sessions = [await DrivenSession.begin(store, f"{n}", updated_at=instant(n)) for n in range(4)]
    first = await store.sessions(SessionQuery(limit=2))
    assert [s.id for s in first.sessions] == ["ses_3", "ses_2"]
    sessions[3]._ticks = iter(range(5_000, 6_000))  # type: ignore[assignment]
    await sessions[3].accept("to the top")
    second = await store.sessions(SessionQuery(limit=2, cursor=first.next))
    assert [s.id for s in second.sessions] == ["ses_1", "ses_0"]
    assert second.next is None


@pytest.mark.guarantee("H2")
@pytest.mark.failure(60)
async def test_only_activity_moves_a_session_in_the_list(store: Store) -> None:
    old, new = await DrivenSession.begin(store, "a"), await DrivenSession.begin(store, "b")
    await old.turn("hello", "x", "y")
    old_at = (await store.session(old.id)).updated_at
    await new.turn("hello", "x", "y")
    await new.turn("hello", "x", "y")
    await old.update(title="renamed", draft="half a th", pinned=True)
    await store.fold_deltas(before=instant(59_000), limit=1000)
    await store.purge(before=instant(59_000))
    await store.snapshot(old.id)
    assert await all_pages(store, SessionQuery()) == [new.id, old.id]
    assert (await store.session(old.id)).updated_at == old_at
    for _ in range(10):
        old.moment()
    await old.accept("again")
    assert await all_pages(store, SessionQuery()) == [old.id, new.id]


async def test_the_list_is_filtered_by_workspace_and_archive(store: Store) -> None:
    await make_workspace(store, "wsp_b")
    here = await DrivenSession.begin(store, "here")
    there = await DrivenSession.begin(store, "there", workspace_id=WorkspaceId("wsp_b"))
    kept = await DrivenSession.begin(store, "kept")
    await kept.update(archived=True)
    assert await all_pages(store, SessionQuery()) == [there.id, here.id]
    assert await all_pages(store, SessionQuery(archived=True)) == [kept.id]
    only = SessionQuery(workspace_id=WorkspaceId("wsp_b"))
    assert await all_pages(store, only) == [there.id]
    worded = SessionQuery(workspace_id=WorkspaceId("default"), words="kept", archived=True)
    await kept.update(title="kept")
    assert await all_pages(store, worded) == [kept.id]


@pytest.mark.parametrize("cursor", ["", "x", "AAAA", "bm90IGpzb24=", "WzEsMl0=", "é", "💥"])
async def test_a_cursor_that_we_did_not_make_is_invalid(store: Store, cursor: str) -> None:
    driven = await DrivenSession.begin(store)
    with pytest.raises(InvalidInput):
        await store.sessions(SessionQuery(cursor=cursor))
    with pytest.raises(InvalidInput):
        await store.runs(RunQuery(cursor=cursor))
    with pytest.raises(InvalidInput):
        await store.runs(RunQuery(cursor=cursor, session_id=driven.id))


async def test_search_looks_into_titles_and_what_was_said(store: Store) -> None:
    fruit = await DrivenSession.begin(store, "fruit", title="Fruit salad")
    other = await DrivenSession.begin(store, "other", title="Other things")
    await fruit.turn("which apples?", "the green ", "Bram", "ley ones")
    await other.turn("which engine?", "diesel")
    assert await found(store, "salad") == ["fruit"]
    assert await found(store, "APPLES") == ["fruit"]
    assert await found(store, "bramley") == ["fruit"]
    assert await found(store, "diesel") == ["other"]
    assert set(await found(store, "which")) == {"fruit", "other"}
    assert await found(store, "pears") == []


async def test_every_word_is_needed_but_not_in_one_place(store: Store) -> None:
    driven = await DrivenSession.begin(store, "one", title="Fruit salad")
    await DrivenSession.begin(store, "two", title="Fruit cake")
    await driven.turn("which apples?", "bramley")
    assert await found(store, "fruit bramley apples") == ["one"]
    assert await found(store, "cake bramley") == []


async def test_the_last_word_may_be_a_beginning_and_no_other(store: Store) -> None:
    await DrivenSession.begin(store, "one", title="Internationalisation notes")
    assert await found(store, "intern") == ["one"]
    assert await found(store, "notes inter") == ["one"]
    assert await found(store, "inter notes") == []


async def test_accents_and_other_scripts_are_found(store: Store) -> None:
    await DrivenSession.begin(store, "one", title="Crème brûlée Привет 東京タワー")
    for words in ("creme", "BRÛLÉE", "привет", "東京"):
        assert await found(store, words) == ["one"]


@pytest.mark.parametrize(
    "words",
    ['"', "'", "a AND", "NEAR(", "*", "(", "a OR b", "-x", "text:x", "^x", "{", "\0", "%", "💥"],
)
async def test_no_input_breaks_the_search(store: Store, words: str) -> None:
    await DrivenSession.begin(store, "one", title="plain title")
    assert await found(store, words) in ([], ["one"])
    assert await found(store, f"{words} nowhere") == []


async def test_marks_are_not_words_and_blanks_are_no_search(store: Store) -> None:
    await DrivenSession.begin(store, "one", title="plain title")
    assert await found(store, "  ") == ["one"]
    assert await found(store, "?!") == []
    assert await found(store, "plain ?!") == ["one"]
    assert await found(store, "plain-title") == ["one"]
    assert await found(store, "title-plain") == []


async def test_text_is_found_when_its_message_is_whole_and_not_before(store: Store) -> None:
    driven = await DrivenSession.begin(store, "one")
    await driven.accept("say something")
    await driven.start()
    await driven.say("zeppelin")
    assert await found(store, "zeppelin") == []
    await driven.settle()
    assert await found(store, "zeppelin") == ["one"]


@pytest.mark.failure(42)
async def test_undone_words_and_old_titles_are_not_found(store: Store) -> None:
    driven = await DrivenSession.begin(store, "one", title="first name")
    await driven.turn("about zeppelins", "they float")
    await driven.undo()
    await driven.update(title="second name")
    assert await found(store, "zeppelins") == []
    assert await found(store, "float") == []
    assert await found(store, "first") == []
    assert await found(store, "second") == ["one"]


async def test_search_results_come_in_pages_too(store: Store) -> None:
    for n in range(7):
        await store.create_session(new_session(f"{n}", title=f"match {n}", updated_at=instant(n)))
        await store.create_session(new_session(f"x{n}", title="else", updated_at=instant(n)))
    expected = [f"ses_{n}" for n in reversed(range(7))]
    assert await all_pages(store, SessionQuery(words="match", limit=3)) == expected


async def test_runs_are_listed_newest_first(store: Store) -> None:
    one, two = await DrivenSession.begin(store, "one"), await DrivenSession.begin(store, "two")
    await one.turn("a", "x")
    mine = [await one.accept(text) for text in ("b", "c")]
    await two.accept("d")
    page = await store.runs(RunQuery(session_id=one.id, limit=2))
    assert [run.input for run in page.runs] == ["c", "b"]
    rest = await store.runs(RunQuery(session_id=one.id, limit=2, cursor=page.next))
    assert [run.input for run in rest.runs] == ["a"]
    assert rest.next is None
    queued = await store.runs(RunQuery(session_id=one.id, status=RunStatus.QUEUED))
    assert [run.id for run in queued.runs] == [mine[1].id, mine[0].id]
    with pytest.raises(NotFound):
        await store.runs(RunQuery(session_id=SessionId("ses_nobody")))


async def test_runs_of_all_sessions_come_in_pages_with_ties(store: Store) -> None:
    for n in range(5):
        driven = await DrivenSession.begin(store, f"{n}")
        await driven.accept(f"{n}")
    seen: list[object] = []
    cursor: str | None = None
    while True:
        page = await store.runs(RunQuery(status=RunStatus.QUEUED, limit=2, cursor=cursor))
        seen += [run.input for run in page.runs]
        cursor = page.next
        if cursor is None:
            break
    assert seen == ["4", "3", "2", "1", "0"]
    assert (await store.runs(RunQuery(status=RunStatus.RUNNING))).runs == ()


async def test_the_snapshot_has_the_newest_hundred_runs_and_all_unfinished(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    waiting = await driven.accept("the first, still waiting")
    for _ in range(101):
        await driven.withdraw((await driven.accept("x")).id)
    runs = (await store.snapshot(driven.id)).runs
    assert [run.accept_number for run in runs] == [1, *range(3, 103)]
    assert runs[0].id == waiting.id


async def test_a_user_message_is_found_by_its_id_or_as_the_last(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    with pytest.raises(NotFound):
        await store.user_message(driven.id, None)
    await driven.turn("one", "1")
    await driven.turn("two", "2")
    messages = (await store.snapshot(driven.id)).messages
    assert (await store.user_message(driven.id, None)).text() == "two"
    assert await store.user_message(driven.id, messages[0].id) == messages[0]
    for wrong in (messages[1].id, MessageId("msg_nobody")):
        with pytest.raises(NotFound):
            await store.user_message(driven.id, wrong)


async def test_a_session_knows_its_own_place_in_time(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    session = await store.session(driven.id)
    assert (session.created_at, session.updated_at) == (START, START)
    await driven.accept("hello")
    assert (await store.session(driven.id)).updated_at == instant(1)
