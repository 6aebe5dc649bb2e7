"""The studio: label, teach by prototypes and watch labels spread, on a page of this machine."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handful.studio.journal import Journal as Journal
    from handful.studio.sentence_desk import SentenceDesk as SentenceDesk
    from handful.studio.server import make_app as make_app
    from handful.studio.serving import serve as serve
    from handful.studio.table_desk import TableDesk as TableDesk

# Name to module; loaded on first use, so that importing the room costs next to nothing.
_PLACES = {
    "Journal": "journal",
    "SentenceDesk": "sentence_desk",
    "TableDesk": "table_desk",
    "make_app": "server",
    "serve": "serving",
}

__all__ = ["Journal", "SentenceDesk", "TableDesk", "make_app", "serve"]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(f"handful.studio.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'handful.studio' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
