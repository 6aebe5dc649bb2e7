"""Pictures of papers as files."""

from __future__ import annotations

import tempfile
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

    with atomic_writer(path) as file, plt.rc_context({"svg.hashsalt": "handful"}):
        figure.savefig(file, format=path.suffix[1:], metadata={"Date": None}, **options)
    plt.close(figure)
    return path


def save_animation(figure: Any, animation: Any, path: Path, frames_per_second: int) -> Path:
    """Write moving pictures as a GIF, as safely as `save_picture`, and forget them.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Where they are drawn.
    animation : matplotlib.animation.Animation
        The pictures.
    path : Path
        File to write.
    frames_per_second : int
        How many pictures are shown in a second.

    Returns
    -------
    Path
        The file.
    """
    import matplotlib.pyplot as plt
    from matplotlib.animation import PillowWriter

    with tempfile.TemporaryDirectory() as folder:  # matplotlib writes animations to names, not to open files
        whole = Path(folder) / path.name
        animation.save(whole, writer=PillowWriter(fps=frames_per_second))
        plt.close(figure)
        with atomic_writer(path) as file:
            file.write(whole.read_bytes())
    return path
