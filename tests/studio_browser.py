"""A studio in a process of its own, and a browser that looks at it and forgives nothing."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from quick_start import Process

WAIT = 60_000  # milliseconds; a busy machine is no failure


class Server:
    """``handful studio`` on some data, as a person starts it."""

    def __init__(self, *given: str | Path) -> None:
        words = ("studio", *given, "--no-browser")
        self._process = Process(words, env={**os.environ, "COLUMNS": "200"})
        told = ""
        for line in self._process.stdout:
            told += line.decode()
            if found := re.search(r"http://\S+", told):
                self.link = found.group()
                return
        raise AssertionError(f"handful studio ended without a link: {told} {self._process.communicate()}")

    def kill(self) -> None:
        """Kill -9."""
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def interrupt(self) -> int:
        """Ctrl-C; returns the exit code."""
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(30)


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Start studios that end with the test."""
    servers: list[Server] = []

    def start(*given: str | Path) -> Server:
        servers.append(Server(*given))
        return servers[-1]

    yield start
    for server in servers:
        server.kill()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Open pages; at the end there was no error, no dialog and no request to another host."""
    wrong: list[str] = []
    contexts: list[Any] = []

    def open_page(link: str, width: int = 1280, **settings: Any) -> Any:
        context = chromium.new_context(viewport={"width": width, "height": 850}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT)
        own = urlsplit(link).netloc
        page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: urlsplit(request.url).netloc != own and wrong.append(request.url))
        page.goto(link)
        page.locator("#item[data-row]").wait_for(state="attached")
        return page

    open_page.forgive = wrong.clear  # type: ignore[attr-defined]
    yield open_page
    for context in contexts:
        context.close()
    assert wrong == [], wrong


def findings(page: Any) -> list[str]:
    """Findings of axe."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    violations = axe.run(page).response["violations"]
    return [f"{found['id']}: {node['html'][:200]}" for found in violations for node in found["nodes"]]


def sideways(page: Any) -> int:
    """How many pixels the page is wider than the window."""
    return int(page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth"))
