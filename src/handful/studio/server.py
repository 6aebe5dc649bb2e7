"""The web server of the studio: routes, access checks, event stream."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from handful.errors import DataError, FileError, HandfulError, require

if TYPE_CHECKING:
    from handful.studio.session import Studio

MOST_BYTES = 1 << 20
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),  # the address holds the token
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


# What the page can ask for, and what answers it; see `Studio.answer`.
ROUTES = (
    ("GET", "/view", "view"),
    ("GET", "/items/{row}", "item"),
    ("GET", "/items/{row}/alike", "alike"),
    ("GET", "/rows", "rows"),
    ("GET", "/map", "map"),
    ("GET", "/book", "book"),
    ("POST", "/labels", "label"),
    ("POST", "/spans", "span"),
    ("POST", "/words", "word"),
    ("POST", "/accepted", "accept"),
    ("POST", "/rejected", "reject"),
    ("POST", "/skips", "skip"),
    ("POST", "/unsure", "unsure"),
    ("POST", "/notes", "note"),
    ("POST", "/undo", "undo"),
    ("POST", "/names", "name"),
    ("POST", "/renames", "rename"),
    ("POST", "/deletions", "delete"),
    ("POST", "/entries", "entry"),
    ("POST", "/guidelines", "guidelines"),
    ("POST", "/keys", "key"),
    ("POST", "/strategy", "strategy"),
    ("POST", "/goal", "goal"),
    ("POST", "/exports", "export"),
)


class Guard:
    """Lets in requests of the page alone.

    Parameters
    ----------
    app : ASGI application
        Sees the path behind the token.
    token : str
        Every path begins with it, so no cookie is needed that another site could make use of.
    open_to : str
        Name or address the server listens on. On the loopback only names of this machine are good hosts; else any address
        in numbers is, too: a name that resolves to it may be foreign (DNS rebinding).
    """

    def __init__(self, app: Any, token: str, open_to: str = "127.0.0.1") -> None:
        self._app = app
        self._token = token
        self._open_to = open_to

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or refuse it in a sentence."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        behind = scope["path"][len(self._token) + 1 :]
        inner = {**scope, "path": behind, "raw_path": behind.encode(), "root_path": ""}
        await self._app(inner, receive, _with_headers(send))

    def _refusal(self, scope: Any, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if not self._is_own(host):
            return 403, "This address is not the studio's."
        origin = headers.get("origin")
        reads = scope["method"] in ("GET", "HEAD")
        if origin != f"http://{host}" and not (origin is None and reads):
            return 403, "Only the studio's own page may ask that."
        first = scope["path"].lstrip("/").partition("/")[0]
        if not hmac.compare_digest(first.encode(), self._token.encode()):
            return 403, "Open the link that the command printed: its token lets you in."
        if not reads and headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return 415, "Actions must be JSON."
        length = headers.get("content-length", "0" if reads else "")  # the server takes no more than it says
        if not length.isdigit() or int(length) > MOST_BYTES:
            return 413, f"A request must say how long it is, and have at most {MOST_BYTES:,} bytes."
        return None

    def _is_own(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
            if name in ("localhost", self._open_to.lower()):
                return True
            return ip_address(name).is_loopback or not is_loopback(self._open_to)
        except ValueError:
            return False


def is_loopback(host: str) -> bool:
    """Tell whether nobody but this machine can reach a host.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def _with_headers(send: Any) -> Any:
    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *_HEADERS]}
        await send(message)

    return sent


async def _refuse(send: Any, status: int, sentence: str) -> None:
    head = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close"), *_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": sentence.encode()})


_BEAT = 15.0  # seconds after which a silent connection is shown to be alive


class EventStream:
    """Sends events to all who listen.

    Examples
    --------
    >>> stream = EventStream()
    >>> stream.send("changed", {"version": 1})  # nobody listens yet
    """

    def __init__(self) -> None:
        self._listeners: set[tuple[asyncio.AbstractEventLoop, asyncio.Queue[str | None]]] = set()

    def send(self, event: str, facts: Any) -> None:
        """Send an event with its facts (a JSON value); from any thread."""
        text = f"event: {event}\ndata: {json.dumps(facts)}\n\n"
        for loop, queue in list(self._listeners):
            loop.call_soon_threadsafe(queue.put_nowait, text)

    def close(self) -> None:
        """End all connections."""
        for loop, queue in list(self._listeners):
            loop.call_soon_threadsafe(queue.put_nowait, None)

    async def listen(self) -> AsyncIterator[str]:
        """Yield events as they come."""
        own: tuple[asyncio.AbstractEventLoop, asyncio.Queue[str | None]] = (asyncio.get_running_loop(), asyncio.Queue())
        self._listeners.add(own)
        try:
            yield ": hello\n\n"
            while True:
                try:
                    text = await asyncio.wait_for(own[1].get(), _BEAT)
                except TimeoutError:
                    text = ": still here\n\n"
                if text is None:
                    return
                yield text
        finally:
            self._listeners.discard(own)


def serve(
    studio: Studio,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    announce: Callable[[str], None] = lambda link: None,
    token: str | None = None,
) -> None:
    """Serve a studio until the process is interrupted.

    Parameters
    ----------
    studio : Studio
        What to serve; it is closed at the end.
    host : str, default="127.0.0.1"
        Address to listen on.
    port : int, default=0
        Port; 0 takes a free one.
    announce : callable
        Called with the link as soon as the page can be opened.
    token : str, optional
        Secret of the link; a random one by default.
    """
    from threadpoolctl import threadpool_limits

    uvicorn = require("uvicorn", extra="studio", why="handful studio")
    secret = token or secrets.token_urlsafe(24)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise FileError(
                f"studio: cannot listen on {host}, port {port} ({error.strerror}). Choose another."
            ) from None
        config = uvicorn.Config(
            studio.app(secret, host),
            log_level="error",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
        shown = f"[{host}]" if ":" in host else host
        listener.listen(64)
        announce(f"http://{shown}:{listener.getsockname()[1]}/{secret}/")
        # Requests run in parallel; threads inside each would only wait for each other. Ctrl-C is how a studio ends.
        with threadpool_limits(1), suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        studio.close()
        listener.close()


_HERE = Path(__file__).parent


def make_app(studio: Studio, token: str, host: str = "127.0.0.1") -> Guard:
    """Make the application of a studio, for uvicorn.

    Parameters
    ----------
    studio : Studio
        What answers requests, and the stream of events.
    token : str
        Secret of the link; every path begins with it.
    host : str
        Where the server listens.
    """
    require("starlette", extra="studio", why="handful studio")
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import FileResponse, PlainTextResponse, Response, StreamingResponse
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles

    page = _page(studio, host)

    async def show(request: Request) -> Response:
        return Response(page, media_type="text/html")

    async def events(request: Request) -> Response:
        return StreamingResponse(studio.stream.listen(), media_type="text/event-stream")

    async def css(request: Request) -> Response:
        return FileResponse(studio.css, media_type="text/css") if studio.css else PlainTextResponse("", 404)

    routes = [
        Route("/", show),
        Route("/events", events),
        Route("/own.css", css),
        *(
            Route(path, _endpoint(work), methods=[method])
            for method, path, name in ROUTES
            if (work := studio.answer(name))
        ),
        Mount("/static", StaticFiles(directory=_HERE / "static")),
    ]
    return Guard(Starlette(routes=routes), token, host)


def _endpoint(work: Callable[[Any], Any]) -> Callable[[Any], Awaitable[Any]]:
    """Return an endpoint that calls a function of the parameters of a path and query, or of the JSON body of a POST."""
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response

    async def endpoint(request: Request) -> Response:
        given: Any = {**request.query_params, **request.path_params}
        if request.method == "POST":
            given = None
            with suppress(ValueError, RecursionError):
                given = json.loads(await request.body())
        try:
            if not isinstance(given, dict):
                raise DataError("studio: an action must be a JSON object.")
            return JSONResponse(await run_in_threadpool(work, given))
        except HandfulError as error:
            return JSONResponse({"error": str(error).removeprefix("studio: ")}, 400)
        except Exception as error:
            logging.getLogger(__name__).exception("a request of the studio failed")
            return JSONResponse({"error": f"Internal error: {type(error).__name__}. Nothing was changed."}, 500)

    return endpoint


def _page(studio: Studio, host: str) -> str:
    require("jinja2", extra="studio", why="handful studio")
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(loader=FileSystemLoader(_HERE / "templates"), autoescape=True, undefined=StrictUndefined)
    open_to = None if is_loopback(host) else host
    return environment.get_template(f"{studio.session.kind}.html").render(studio=studio, open_to=open_to)


def number(query: Mapping[str, str], name: str, default: int = 0) -> int:
    """Return a query parameter that must be a number."""
    text = query.get(name, str(default))
    if not (text.isascii() and text.isdigit()) or len(text) > 12:
        raise DataError(f"studio: {name} must be a number, got {text[:40]!r}.")
    return int(text)
