"""What an agent is told of the place that it works in."""

import os
from pathlib import Path

from tenuto.agent import prompts
from tenuto.agent.surroundings import INSTRUCTION_BYTES, look_around
from tenuto.agent.tools.files.vault import Vault, vault_at
from tenuto.core.value import Instant

NOW = Instant("2030-02-03T04:05:06.000Z")


def told(folder: Path, vault: Vault | None = None) -> str:
    return prompts.agent_system(look_around(folder, NOW, vault or Vault()))


def test_it_says_where_it_is_and_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "README.md").touch()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/feature/tea\n")
    system = told(tmp_path)
    assert f"- Folder: {tmp_path} (git, on feature/tea)\n- In it: README.md, src/\n" in system
    assert "- Today: 2030-02-03" in system


def test_a_folder_with_very_many_files_is_told_in_part(tmp_path: Path) -> None:
    for n in range(100):
        (tmp_path / f"file-{n:03}").touch()
    assert "file-059 … and 40 more\n" in told(tmp_path)


def test_agents_md_is_told_and_claude_md_only_without_it(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("Sing.")
    assert told(tmp_path).endswith("What CLAUDE.md in the folder says about working there:\nSing.")
    (tmp_path / "AGENTS.md").write_text("Use tabs.\n")
    assert told(tmp_path).endswith("AGENTS.md in the folder says about working there:\nUse tabs.")
    assert "Sing." not in told(tmp_path)


def test_instructions_without_end_are_cut_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("x" * (INSTRUCTION_BYTES + 10))
    system = told(tmp_path)
    assert system.endswith("x\n[cut here: read the file for the rest]")
    assert len(system) < INSTRUCTION_BYTES + 5_000


def test_nothing_is_read_through_links_that_lead_out_or_from_the_servers_own_folder(
    tmp_path: Path,
) -> None:
    (tmp_path / "secret").write_text("the key")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "AGENTS.md").symlink_to(tmp_path / "secret")
    assert "the key" not in told(folder)
    (tmp_path / "AGENTS.md").write_text("the token")
    assert "the token" not in told(tmp_path, vault_at(tmp_path))


def test_what_cannot_be_read_is_not_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "AGENTS.md")
    (tmp_path / "CLAUDE.md").mkdir()
    assert "- In it: AGENTS.md, CLAUDE.md/\n" in told(tmp_path)
    assert "- In it: nothing yet\n" in told(tmp_path / "gone")


def test_what_a_person_asks_for_a_session_is_added() -> None:
    assert prompts.with_own("Be kind.", None) == "Be kind."
    assert prompts.with_own("Be kind.", "Be brief.") == (
        "Be kind.\n\nFor this conversation the person asks:\nBe brief."
    )
