from __future__ import annotations

import pytest

pytest.importorskip("matplotlib")

from papers.liu2013.plans import draw_figures


def test_moving_pictures_are_written_whole_and_follow_no_link(tmp_path, monkeypatch):
    from matplotlib.animation import PillowWriter

    monkeypatch.setattr("papers.liu2013.plans.N_FRAMES", 2)
    folder, mine = tmp_path / "figures", tmp_path / "mine"
    folder.mkdir()
    mine.write_text("not a picture")
    (folder / "figure4.gif").symlink_to(mine)
    (folder / "figure5.gif").write_text("an old picture")

    def full(writer: PillowWriter) -> None:
        with open(writer.outfile, "wb") as file:
            file.write(b"GIF89a, the first half")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(PillowWriter, "finish", full)
        with pytest.raises(OSError, match="No space"):
            draw_figures(folder, {})
    assert mine.read_text() == "not a picture"
    assert (folder / "figure4.gif").is_symlink()
    written = draw_figures(folder, {})
    assert mine.read_text() == "not a picture"
    assert {path.name for path in folder.iterdir()} == {path.name for path in written}
    assert [path.read_bytes()[:6] for path in written if path.suffix == ".gif"] == [b"GIF89a"] * 2
