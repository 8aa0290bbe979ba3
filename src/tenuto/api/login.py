"""Logging in: the token once, a cookie from then on."""

from collections.abc import Mapping
from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from tenuto.api.door import Door
from tenuto.api.form import FormBounds, read_form
from tenuto.api.gate import TOO_MANY
from tenuto.api.guesses import Guesses
from tenuto.api.page import hidden_field, own_path
from tenuto.core.error import RateLimited

YEAR_SECONDS = 365 * 24 * 3600
FORM_BOUNDS = FormBounds(max_bytes=16 * 1024, max_fields=4, max_field_bytes=8 * 1024)
"""Anyone may send this one: a token and the way back, and no more."""
CSP = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"
FORM = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Tenuto</title>
<style>body{{font:16px/1.55 system-ui;max-width:26rem;margin:20vh auto;padding:0 1rem}}
input,button{{font:inherit;padding:.5rem;width:100%;box-sizing:border-box;margin-top:.5rem}}
@media(prefers-color-scheme:dark){{body{{background:#161618;color:#e8e8ea}}}}</style>
<h1>Tenuto</h1><form method="post" action="/login">{then}
<label>Token<input name="token" type="password" autocomplete="current-password" autofocus
required></label><button>Log in</button></form>
<p>{note}</p><p>The token is in the address that the server printed when it started, and in the
file <code>token</code> of its data folder.</p></html>"""


class Login:
    def __init__(self, door: Door, guesses: Guesses) -> None:
        self._door = door
        self._guesses = guesses

    async def __call__(self, request: Request) -> Response:
        if request.method == "DELETE":
            return self._logged_out()
        if request.method == "POST":
            async with read_form(request, FORM_BOUNDS) as form:
                asked: Mapping[str, object] = form
        else:
            asked = request.query_params
        given, then = str(asked.get("token", "")), own_path(str(asked.get("next", "")))
        if not given:
            return self._form("", then, 200)
        if not self._door.knows_token(given):
            if self._guesses.wrong(request.scope):
                raise RateLimited(TOO_MANY)
            return self._form("That is not the token.", then, 401)
        response = RedirectResponse(then, status_code=303)
        response.set_cookie(
            self._door.cookie_name,
            self._door.cookie(),
            max_age=YEAR_SECONDS,
            httponly=True,
            samesite="lax",
        )
        return response

    def _logged_out(self) -> Response:
        """The cookie is out of a script's reach: we take it back."""
        response = Response(status_code=204)
        response.delete_cookie(self._door.cookie_name, httponly=True, samesite="lax")
        return response

    def _form(self, note: str, then: str, status: int) -> Response:
        headers = {"Content-Security-Policy": CSP, "Cache-Control": "no-store"}
        return HTMLResponse(
            FORM.format(note=escape(note), then=hidden_field("next", then)), status, headers
        )
