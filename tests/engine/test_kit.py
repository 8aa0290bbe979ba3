"""The tools of a run: from all who have some, as the rules let it."""

from collections.abc import Sequence

import pytest

from tenuto.core.permission import Permission
from tenuto.engine.kit import FixedTools, JoinedTools, Kit
from tenuto.engine.rulebook import Rulebook
from tenuto.ports.tool import Parallel, Site, Tool, ToolFailed
from tests.engine.sites import site
from tests.engine.test_toolbox import HeldTool, call

pytestmark = pytest.mark.anyio


class BrokenTools:
    def known(self) -> Sequence[Tool]:
        return ()

    async def for_run(self, site: Site) -> Sequence[Tool]:
        raise RuntimeError("the list is not there")


def kit(*tools: HeldTool, permission: str = "allow") -> Kit:
    return Kit(tools, Rulebook(default=Permission(permission)))


def names(tools: Sequence[Tool]) -> list[str]:
    return [tool.spec.name for tool in tools]


def test_a_tool_that_is_denied_is_not_offered() -> None:
    change, look = HeldTool("change"), HeldTool("look")
    assert [spec.name for spec in kit(change, permission="ask").specs()] == ["change"]
    assert kit(change, permission="deny").specs() == ()
    assert [spec.name for spec in kit(look, permission="deny").specs()] == ["look"]


@pytest.mark.parametrize(
    ("name", "parallel", "permission", "beside"),
    [
        ("look", Parallel.LOOKING, "ask", True),
        ("look", Parallel.NEVER, "allow", False),
        ("change", Parallel.NEVER, "allow", False),
        ("change", Parallel.WAITING, "allow", True),
        ("change", Parallel.WAITING, "ask", False),
    ],
)
def test_a_call_runs_beside_others_if_its_tool_lets_it_and_nobody_is_asked(
    name: str, parallel: Parallel, permission: str, *, beside: bool
) -> None:
    tool = HeldTool(name)
    tool.parallel = parallel
    assert kit(tool, permission=permission).beside_others(call(name)) is beside
    assert not kit(tool, permission=permission).beside_others(call("another"))


def test_a_tool_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(ToolFailed) as failure:
        kit(HeldTool("look"), HeldTool("change")).find("sing")
    assert str(failure.value) == "There is no tool 'sing'. The tools are: look, change."


async def test_of_two_tools_of_one_name_the_first_counts() -> None:
    own, foreign, other = HeldTool("look"), HeldTool("look"), HeldTool("other")
    joined = JoinedTools(FixedTools(own), FixedTools(foreign, other))
    assert list(await joined.for_run(site())) == [own, other]
    assert list(joined.known()) == [own, other]


async def test_a_source_that_cannot_say_its_tools_does_not_take_away_the_others() -> None:
    joined = JoinedTools(BrokenTools(), FixedTools(HeldTool("look")))
    assert names(await joined.for_run(site())) == ["look"]
