"""The routes of the studio: JSON for the page's modules, and the page itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from handful.core.errors import DataError, HandfulError
from handful.core.optional import require
from handful.core.version import __version__
from handful.studio.desk import Desk
from handful.studio.guard import Guard, TooLargeError, is_loopback
from handful.studio.hub import Hub

_HERE = Path(__file__).parent
# What a page may ask of a desk: query parameters in, JSON out.
Asked = Callable[[Mapping[str, str]], Any]
# What a page may have done: a JSON body in, JSON out.
Done = Callable[[Mapping[str, Any]], Any]


def make_app(
    desk: Desk,
    token: str,
    *,
    asked: Mapping[str, Asked],
    done: Mapping[str, Done],
    hub: Hub,
    host: str = "127.0.0.1",
) -> Guard:
    """Make the application of a studio.

    Parameters
    ----------
    desk : Desk
        What is being labeled.
    token : str
        Secret of the link; every path begins with it.
    asked, done : mapping of str to callable
        What can be read (GET) and done (POST), by name.
    hub : Hub
        Tells open pages of changes.
    host : str
        Where the server listens.

    Returns
    -------
    ASGI application
        For uvicorn.
    """
    require("starlette", extra="studio", why="handful studio")
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles

    page = _page(desk, host)

    async def show(request: Request) -> Response:
        return Response(page, media_type="text/html")

    async def ask(request: Request) -> Response:
        work = asked.get(request.path_params["what"])
        if work is None:
            return PlainTextResponse("There is no such thing here.", 404)
        return await answer(work, dict(request.query_params))

    async def do(request: Request) -> Response:
        work = done.get(request.path_params["what"])
        if work is None:
            return PlainTextResponse("There is no such thing here.", 404)
        try:
            body = json.loads(await request.body())
        except TooLargeError:
            return PlainTextResponse("That is too much.", 413)
        except (ValueError, RecursionError):
            return JSONResponse({"error": "An action must be JSON."}, 400)
        if not isinstance(body, dict):
            return JSONResponse({"error": "An action must be a JSON object."}, 400)
        return await answer(work, body)

    async def answer(work: Callable[[Any], Any], given: Any) -> Response:
        try:
            return JSONResponse(await run_in_threadpool(work, given))
        except HandfulError as error:
            return JSONResponse({"error": str(error).removeprefix("studio: ")}, 400)

    async def events(request: Request) -> Response:
        return StreamingResponse(hub.listen(), media_type="text/event-stream")

    routes = [
        Route("/", show),
        Route("/events", events),
        Route("/ask/{what}", ask),
        Route("/do/{what}", do, methods=["POST"]),
        Mount("/static", StaticFiles(directory=_HERE / "static")),
    ]
    return Guard(Starlette(routes=routes), token, host)


def _page(desk: Desk, host: str) -> str:
    require("jinja2", extra="studio", why="handful studio")
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    facts = {
        "name": desk.name,
        "kind": desk.kind,
        "board": desk.has_board,
        "open_to": None if is_loopback(host) else host,
    }
    return environment.get_template(f"{desk.kind}.html").render(version=__version__, **facts)


def number(query: Mapping[str, str], name: str, default: int = 0) -> int:
    """Return a query parameter that must be a number."""
    text = query.get(name, str(default))
    if not (text.isascii() and text.isdigit()) or len(text) > 12:
        raise DataError(f"studio: {name} must be a number, got {text[:40]!r}.")
    return int(text)
