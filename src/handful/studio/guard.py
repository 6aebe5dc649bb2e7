"""Who may come in: the right token, host and origin, and no more bytes than an action needs."""

from __future__ import annotations

import hmac
from ipaddress import ip_address
from typing import Any

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
        in numbers is, too: what resolves to it by name may be a stranger's name (DNS rebinding).
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
        await self._app(inner, _Limited(receive), _with_headers(send))

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
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MOST_BYTES:
            return 413, f"A request may have at most {MOST_BYTES:,} bytes."
        return None

    def _is_own(self, host: str) -> bool:
        name, colon, port = host.rpartition(":")
        if not colon or not port.isdigit():
            name = host
        name = name.strip("[]").lower()
        if name in ("localhost", self._open_to.lower()):
            return True
        try:
            address = ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not is_loopback(self._open_to)


def is_loopback(host: str) -> bool:
    """Tell whether nobody but this machine can reach a host.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class TooLargeError(Exception):
    """A body that is longer than its header said."""


class _Limited:
    def __init__(self, receive: Any) -> None:
        self._receive = receive
        self._n_bytes = 0

    async def __call__(self) -> Any:
        message = await self._receive()
        self._n_bytes += len(message.get("body", b""))
        if self._n_bytes > MOST_BYTES:
            raise TooLargeError
        return message


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
