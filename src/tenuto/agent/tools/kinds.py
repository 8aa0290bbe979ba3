"""All the tools that come with the server."""

from tenuto.agent.tools.ask_user import AskUser
from tenuto.agent.tools.edit_file import EditFile
from tenuto.agent.tools.fetch_url import FetchUrl
from tenuto.agent.tools.files.errand import Threads
from tenuto.agent.tools.files.seen import SeenFiles
from tenuto.agent.tools.list_files import ListFiles
from tenuto.agent.tools.read_file import ReadFile
from tenuto.agent.tools.read_job import ReadJob
from tenuto.agent.tools.search_files import SearchFiles
from tenuto.agent.tools.settings import ToolSettings
from tenuto.agent.tools.shell import Shell
from tenuto.agent.tools.start_job import StartJob
from tenuto.agent.tools.stop_job import StopJob
from tenuto.agent.tools.task import Task
from tenuto.agent.tools.todo import Todo
from tenuto.agent.tools.write_file import WriteFile
from tenuto.ports.tool import Tool

KINDS = (
    ReadFile,
    ListFiles,
    SearchFiles,
    WriteFile,
    EditFile,
    Shell,
    StartJob,
    ReadJob,
    StopJob,
    FetchUrl,
    Todo,
    AskUser,
    Task,
)
THREADS = 16
"""More would only wait for the same disk."""


def built_in_tools(settings: ToolSettings) -> tuple[Tool, ...]:
    """Every built-in tool, within these limits."""
    threads, seen = Threads(THREADS), SeenFiles()
    return tuple(kind(settings, threads, seen) for kind in KINDS)
