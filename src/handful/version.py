"""The version, in one place, and the versions of what it stands on."""

from __future__ import annotations

__version__ = "0.3.0"


def versions() -> dict[str, str]:
    """Return the versions of all that a result may depend on.

    Examples
    --------
    >>> versions()["handful"] == __version__
    True
    """
    import platform
    from importlib.metadata import version

    return {
        "handful": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba", "polars")},
        "system": f"{platform.system()} {platform.machine()}",
    }
