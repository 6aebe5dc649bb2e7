"""Serving a studio until somebody presses Ctrl-C."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from handful.core.errors import FileError
from handful.core.optional import require


class Studio(Protocol):
    """What can be served."""

    def app(self, token: str, host: str = "127.0.0.1") -> Any:
        """Return the application."""

    def close(self) -> None:
        """End all work."""


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
        Told the link as soon as somebody may come.
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
            log_level="critical",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
        shown = f"[{host}]" if ":" in host else host
        listener.listen(64)
        announce(f"http://{shown}:{listener.getsockname()[1]}/{secret}/")
        # Requests run side by side; threads inside each would only wait for each other. Ctrl-C is how a studio ends.
        with threadpool_limits(1), suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        studio.close()
        listener.close()
