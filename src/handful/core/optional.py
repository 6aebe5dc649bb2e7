"""Imports of optional dependencies: a missing one names the extra that brings it."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from handful.core.errors import MissingExtraError


def require(module: str, *, extra: str, why: str) -> ModuleType:
    """Import an optional module, or say in one sentence how to get it.

    Parameters
    ----------
    module : str
        Name to import, such as ``"matplotlib"``.
    extra : str
        The extra of handful that installs it.
    why : str
        Who needs it, as the subject of a sentence: ``"handful paper --figures"``.

    Returns
    -------
    module
        The imported module.

    Examples
    --------
    >>> require("json", extra="plots", why="this example").__name__
    'json'
    >>> require("no_such_module", extra="plots", why="this example")
    Traceback (most recent call last):
    ...
    handful.core.errors.MissingExtraError: this example needs no_such_module. Install it with: pip install 'handful[plots]' \
(in the folder of handful: pip install '.[plots]').
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise MissingExtraError(
            f"{why} needs {module}. Install it with: pip install 'handful[{extra}]' "
            f"(in the folder of handful: pip install '.[{extra}]')."
        ) from None
