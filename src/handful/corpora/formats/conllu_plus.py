"""CoNLL-U Plus: columns that a first line ``# global.columns = ID FORM UPOS ...`` names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from handful.core.errors import FormatError
from handful.core.records import Sentence
from handful.corpora.formats.columns import COLUMNS_HEADER
from handful.corpora.formats.conll import read_conll, write_conll
from handful.corpora.formats.format import Format, Head
from handful.corpora.opening import FilePath, as_source


def read_conllu_plus(path: FilePath) -> Iterator[Sentence]:
    r"""Read sentences with the columns that the file names.

    Parameters
    ----------
    path : path-like
        The file; lines that start with ``#`` are comments.

    Yields
    ------
    Sentence
        Columns in lower case, ``form`` as the tokens; ids are passed over.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.conllup"
    >>> _ = target.write_text("# global.columns = ID FORM TAG\n1\tRome\tB-LOC\n2\tfell\tO\n\n")
    >>> [(s.tokens, dict(s.columns)) for s in read_conllu_plus(target)]
    [(('Rome', 'fell'), {'tag': ('B-LOC', 'O')})]
    """
    source = as_source(path)
    head = Head.of(source)
    if not is_conllu_plus(head):
        raise FormatError(path, 1, f"expected '{COLUMNS_HEADER} ... FORM ...', which names the columns.")
    names = head.lines[0].removeprefix(COLUMNS_HEADER).lower().split()
    layout = ["token" if name == "form" else "_" if name == "id" else name for name in names]
    if any(layout.count(name) > 1 for name in layout if name != "_"):
        raise FormatError(path, 1, "expected columns of different names, got one twice.")
    return read_conll(source, layout, separator="\t", comments=True)


def write_conllu_plus(path: FilePath, sentences: Iterable[Sentence]) -> None:
    """Write sentences with a first line that names their columns, which are those of the first sentence.

    Parameters
    ----------
    path : path-like
        Where the file goes.
    sentences : iterable of Sentence
        What to write; their comments are left out.
    """
    layout: list[str] = []

    def headed() -> Iterator[Sentence]:
        for number, sentence in enumerate(sentences):
            if number == 0:
                layout.extend(["token", *sentence.columns])
            named = " ".join("FORM" if name == "token" else name.upper() for name in layout)
            comments = (f"{COLUMNS_HEADER} {named}",) if number == 0 else ()
            yield Sentence(sentence.tokens, sentence.columns, comments)

    rows = headed()
    first = next(rows, None)
    write_conll(path, [first, *rows] if first is not None else [], layout or ["token"])


def is_conllu_plus(head: Head) -> bool:
    """Tell whether the first line names columns of which one is the form."""
    first = head.lines[0] if head.lines else ""
    return first.startswith(COLUMNS_HEADER) and "FORM" in first.split()


FORMAT = Format("conllu-plus", "sentences", is_conllu_plus, read_conllu_plus, write_conllu_plus, (".conllup",))
