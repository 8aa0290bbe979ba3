"""The page: built files, sent as they are and already compressed."""

import hashlib
import mimetypes
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

PATHS = ("/", "/s/{id}", "/compare", "/compare/{id}", "/usage", "/settings", "/settings/{section}")
"""What the page shows by itself; each is the same file, which reads the address."""
_FIRST = [path.split("/")[1:2] for path in PATHS if path != "/"]
INDEX = "index.html"
FOR_EVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
ENCODINGS = {"br": ".br", "gzip": ".gz"}
"""Best first; the build writes each file also in these."""
TYPES = {".js": "text/javascript", ".webmanifest": "application/manifest+json"}
NOT_BUILT = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Tenuto</title>
<style>body{font:16px/1.55 system-ui;max-width:34rem;margin:20vh auto;padding:0 1rem}
@media(prefers-color-scheme:dark){body{background:#161618;color:#e8e8ea}a{color:#9bb8ff}}</style>
<h1>Tenuto</h1><p>The server runs, but its page has not been built. With Node.js installed,
run <code>make page</code> in the project's folder and start the server again.</p>
<p>The API works without it: <a href="/docs">read its description</a>.</p></html>"""
NOT_BUILT_CSP = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """A file of the page, read once: a build while we run cannot mix two pages."""

    media_type: str
    etag: str
    bodies: dict[str, bytes]
    """By encoding; `""` is the file as it is."""

    def answer(self, request: Request, headers: dict[str, str]) -> Response:
        sent = {**headers, "ETag": self.etag, "Vary": "Accept-Encoding"}
        if request.headers.get("if-none-match") == self.etag:
            return Response(status_code=304, headers=sent)
        accepted = request.headers.get("accept-encoding", "").lower()
        named = {part.split(";")[0].strip() for part in accepted.split(",")}
        encoding = next((e for e in ENCODINGS if e in named and e in self.bodies), "")
        if encoding:
            sent["Content-Encoding"] = encoding
        return Response(self.bodies[encoding], headers=sent, media_type=self.media_type)


class BuiltPage:
    def __init__(self, folder: Path) -> None:
        self._files = _read(folder)

    def routes(self) -> list[Route]:
        found = [Route(path, self._index) for path in PATHS]
        return [*found, *(Route(f"/{name}", self._file) for name in self._files if name != INDEX)]

    def open_paths(self) -> frozenset[str]:
        """The files, which hold nothing of anyone."""
        return frozenset(f"/{name}" for name in self._files)

    async def _index(self, request: Request) -> Response:
        if request.scope["state"]["who"] is None:
            here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            where = "/login" if here == "/" else f"/login?next={quote(here, safe='')}"
            return RedirectResponse(where, status_code=303)
        index = self._files.get(INDEX)
        if index is None:
            headers = {"Content-Security-Policy": NOT_BUILT_CSP, "Cache-Control": "no-store"}
            return HTMLResponse(NOT_BUILT, headers=headers)
        return index.answer(request, {"Content-Security-Policy": CSP, "Cache-Control": ASK_AGAIN})

    async def _file(self, request: Request) -> Response:
        name = request.url.path.removeprefix("/")
        kept = FOR_EVER if name.startswith("assets/") else ASK_AGAIN
        # A worker has the rules of its own answer, not those of the page that began it.
        return self._files[name].answer(
            request, {"Cache-Control": kept, "Content-Security-Policy": CSP}
        )


def is_page(path: str) -> bool:
    """Whether someone unknown who asks for this is to be shown the way in."""
    return path == "/" or path.split("/")[1:2] in _FIRST


def own_path(given: str) -> str:
    """Where to go after logging in: a path of ours, never another host."""
    if not given.startswith("/") or given.startswith(("//", "/\\")):
        return "/"
    return given if given.isprintable() else "/"


def hidden_field(name: str, value: str) -> str:
    return f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'


def _read(folder: Path) -> dict[str, _File]:
    suffixes = tuple(ENCODINGS.values())
    files: dict[str, _File] = {}
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if path.is_file() and path.suffix not in suffixes:
            files[path.relative_to(folder).as_posix()] = _one(path)
    return files


def _one(path: Path) -> _File:
    plain = path.read_bytes()
    packed = {
        encoding: other.read_bytes()
        for encoding, suffix in ENCODINGS.items()
        if (other := path.with_name(path.name + suffix)).is_file()
    }
    guessed = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return _File(
        media_type=TYPES.get(path.suffix, guessed),
        etag=f'"{hashlib.sha256(plain).hexdigest()[:32]}"',
        bodies={"": plain, **packed},
    )
