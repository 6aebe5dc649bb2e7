"""Tables of words without capitals and digits."""

from handful.preprocessing.extractor import Extractor
from handful.preprocessing.word_tables import FoldedTable, as_asked, fold


def test_a_folded_table_is_found_however_a_word_is_written():
    table = as_asked({"rome": "01", "in 0000": "1"})
    assert [table.get(word) for word in ("ROME", "rome", "Rome", "IN 1996", "Bonn")] == ["01", "01", "01", "1", None]
    assert as_asked(table) is table
    assert (len(table), list(table)) == (2, ["rome", "in 0000"])


def test_tables_with_capitals_or_digits_are_asked_as_they_are():
    for other in ("Rome", "1996"):
        given = {"bonn": "0", other: "1"}
        assert as_asked(given) is given


def test_folding_twice_changes_nothing():
    for word in ("Straße", "İstanbul", "x²", "٣٤", "A1"):
        assert fold(fold(word)) == fold(word)


def test_templates_read_folded_tables():
    extractor = Extractor(["brown[0]"], lookups={"brown": {"rome": "01", "00": "1"}}).fit([["Rome", "12"]])
    assert extractor.transform([["ROME", "99", "7"]]).ids.tolist() == [[0], [1], [-1]]
    again = Extractor.from_state(extractor.state(), extractor.lookups)
    assert isinstance(again.lookups["brown"], FoldedTable)
    assert again.transform([["rome"]]).ids.tolist() == [[0]]
