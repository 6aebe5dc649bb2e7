"""Studios on small data, with and without a network."""

from __future__ import annotations

import polars as pl
import pytest

pytest.importorskip("starlette")


def fixed(key: str = "key"):
    """Data of that key whose rows never change."""
    from handful.studio.annotations import Identity

    return Identity(lambda n_rows: key, 0, lambda rows: [(str(row), "") for row in rows])


TOKEN = "a-token-for-tests"
OWN = {"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000"}


def small_table(n: int = 60) -> pl.DataFrame:
    """Two clear groups of rows, with a hostile column."""
    rows = [{"x": i % 2 * 5 + (i % 7) / 10, "y": i % 2 * 3 + (i % 5) / 10, "note": f"row {i}"} for i in range(n)]
    rows[3]["note"] = "<script>alert(1)</script>"
    rows[5]["note"] = '"><img src=x onerror=alert(1)> \u202eevil\u202c'
    return pl.DataFrame(rows)


@pytest.fixture
def make_session(tmp_path):
    from handful.data.table import as_table
    from handful.studio.annotations import AnnotationLog
    from handful.studio.table_session import TableSession

    desks = []

    def make(
        cells: pl.DataFrame | None = None, given: list[str | None] | None = None, name: str = "small.csv", setup=None
    ):
        cells = small_table() if cells is None else cells
        log = AnnotationLog(tmp_path / f"{name}.studio", fixed("key"))
        kinds = {column: "numeric" if dtype.is_numeric() else "skip" for column, dtype in cells.schema.items()}
        for column in ("label", setup and setup.review, setup and setup.confidence):
            kinds.pop(column, None)
        desks.append(TableSession(name, as_table(cells, given, columns=kinds), "label", log, tmp_path, setup))
        return desks[-1]

    yield make
    for session in desks:
        session.close()


@pytest.fixture
def client(make_session):
    """A client that is let in: the right host, origin and token."""
    from starlette.testclient import TestClient

    from handful.studio.table_session import TableStudio

    studio = TableStudio(make_session())
    with_token = TestClient(studio.app(TOKEN), base_url=f"http://127.0.0.1:8000/{TOKEN}/", headers=OWN)
    with_token.studio = studio
    yield with_token
    studio.measuring.end()
    studio.measuring.join()
