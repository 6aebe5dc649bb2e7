"""Pictures of papers as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from handful.core.files import atomic_writer


def save_picture(figure: Any, path: Path, **options: Any) -> Path:
    """Write a picture, the same bytes for the same picture, and forget it.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The picture.
    path : Path
        File to write, whose ending says the format. An old one stays whole until the new one is, and links are not followed.
    **options
        For `savefig`.

    Returns
    -------
    Path
        The file.
    """
    import matplotlib.pyplot as plt

    with atomic_writer(path) as file:
        figure.savefig(file, format=path.suffix[1:], metadata={"Date": None}, **options)
    plt.close(figure)
    return path
