from __future__ import annotations

import pytest

pytest.importorskip("matplotlib")

from papers.claims import save_picture


def test_the_same_picture_is_the_same_file(tmp_path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    def drawn(name: str) -> bytes:
        figure, axis = plt.subplots()
        axis.scatter([1, 2, 3], [2, 3, 1])
        return save_picture(figure, tmp_path / name).read_bytes()

    assert drawn("one.svg") == drawn("two.svg")
