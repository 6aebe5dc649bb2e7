"""Put off an import that a library makes at once and seldom needs."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """Stands for a module until something in it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name == "__path__":  # for the import of a module in this package; that module may ask for the package itself
            outer = self.__name__.rpartition(".")[0]
            spec = PathFinder.find_spec(self.__name__, import_module(outer).__path__ if outer else None)
            if spec is None or spec.submodule_search_locations is None:
                raise AttributeError(name)
            return spec.submodule_search_locations
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def put_off(name: str) -> None:
    """Import a module only when something in it is asked for, even where it is imported before.

    Parameters
    ----------
    name : str
        The module, with the names of its packages; nothing happens if the outermost is not installed.

    Examples
    --------
    >>> import sys
    >>> put_off("wave")
    >>> import wave
    >>> "Wave_read" in vars(wave)
    False
    >>> wave.Wave_read.__module__
    'wave'
    """
    if PathFinder.find_spec(name.partition(".")[0]) is not None:
        sys.modules.setdefault(name, _Later(name))
