"""Server-sent events: what happens in any thread, told to every open page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

_BEAT = 15.0  # seconds after which a silent connection is shown to be alive


class Hub:
    """Sends events to all who listen.

    Examples
    --------
    >>> hub = Hub()
    >>> hub.send("changed", {"version": 1})  # nobody listens yet
    """

    def __init__(self) -> None:
        self._listeners: set[tuple[asyncio.AbstractEventLoop, asyncio.Queue[str | None]]] = set()

    def send(self, event: str, facts: Any) -> None:
        """Tell everybody; from any thread.

        Parameters
        ----------
        event : str
            Its name.
        facts : JSON value
            What to tell.
        """
        text = f"event: {event}\ndata: {json.dumps(facts)}\n\n"
        for loop, queue in list(self._listeners):
            loop.call_soon_threadsafe(queue.put_nowait, text)

    def close(self) -> None:
        """Send everybody home."""
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
