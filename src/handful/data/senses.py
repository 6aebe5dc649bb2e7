"""Words in context: Senseval lexical samples and tables of contexts."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from handful.data.columns import MISSING
from handful.data.conll import share
from handful.data.csv import is_delimited, read_delimited
from handful.data.files import MAX_LINE, FilePath, as_source, open_bytes, read_lines, shown
from handful.data.formats import Format, Head, format_named, format_of
from handful.data.records import Occurrence
from handful.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from handful.data.text import Token

_MAX_DTD = 2**20
_ENTITY = re.compile(r"""<!ENTITY\s+([A-Za-z][\w.-]*)\s+(?:"([^"]{0,1000})"|'([^']{0,1000})')\s*>""", re.ASCII)
_MAX_DEPTH = 100
_CHUNK = 2**17
_XML = re.compile(r"\s*<(\?xml|!DOCTYPE|!--|corpus|lexelt)")
_INVALID_TOKEN = expat.errors.codes[expat.errors.XML_ERROR_INVALID_TOKEN]


class _SensevalParser:
    """Collects occurrences from XML that it is fed piece by piece.

    `finished` holds those read so far; the caller takes them and clears the list. See `read_senseval`.
    """

    def __init__(self, path: FilePath, answers: Mapping[str, tuple[str, ...]], dtd: FilePath | None) -> None:
        self._path, self._answers, self._dtd = path, answers, dtd
        self.finished: list[Occurrence] = []
        self._ids: set[str] = set()
        self._depth = self._fed = self._size = 0
        self._word: str | None = None
        self._instance: TreeBuilder | None = None  # the elements of the instance that has begun
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._check_doctype
        parser.SkippedEntityHandler = self._refuse_entity
        parser.ExternalEntityRefHandler = self._external
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
        if dtd is not None:
            parser.UseForeignDTD(True)

    def _fail(self, message: str) -> NoReturn:
        raise FormatError(self._path, self._parser.CurrentLineNumber, message)

    def feed(self, data: bytes, final: bool = False) -> None:
        """Parse the next bytes; `final` if there are no more."""
        self._fed += len(data)
        try:
            self._parser.Parse(data, final)
        except expat.ExpatError as error:
            hint = self._hint(data) if error.code == _INVALID_TOKEN else ""
            what = f"an error at column {error.offset + 1}: {expat.ErrorString(error.code)}."
            raise FormatError(self._path, error.lineno, f"expected well-formed XML, got {what}{hint}") from None
        except (LookupError, ValueError) as error:
            if isinstance(error, FormatError):
                raise
            # Expat asks Python for encodings that it does not know itself.
            raise FormatError(self._path, 1, f"expected a known encoding, got an error: {error}.") from None
        # The parser holds an element back until it is whole, so one without end would fill the memory.
        if self._fed - self._parser.CurrentByteIndex > MAX_LINE:
            self._fail(f"expected XML elements of at most {MAX_LINE:,} bytes, got a longer one.")

    def _hint(self, data: bytes) -> str:
        place = self._parser.ErrorByteIndex - (self._fed - len(data))
        if 0 <= place < len(data) and data[place] >= 0x80:
            return ' Name the encoding on the first line, as in <?xml version="1.0" encoding="iso-8859-1"?>.'
        return " Write & as &amp; and < as &lt; in text."

    def _external(self, context: str | None, base: str | None, system: str | None, public: str | None) -> int:
        # Nothing can be declared in the file, so the only thing that the parser can ask for is the DTD.
        dtd = self._dtd
        if dtd is None and system and system.lower().endswith(".dtd") and not set(system) & set("/\\:\0"):
            neighbor = Path(self._path).parent / system
            dtd = neighbor if neighbor.is_file() else None
        if dtd is not None:
            _read_dtd(dtd, self._parser.ExternalEntityParserCreate(context, "utf-8"))
        return 1

    def _check_doctype(self, name: str, system: str | None, public: str | None, has_declarations: int) -> None:
        # Bombs of nested entities, external entities and huge default attributes all need declarations in the file.
        if has_declarations:
            self._fail("expected no declarations in the file itself, got some. Declare entities in a DTD file.")

    def _refuse_entity(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            self._fail(f"expected an entity that the DTD declares, got &{name[:60]};. Name the right DTD file.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            self._fail(f"expected at most {_MAX_DEPTH} elements inside one another, got more.")
        if name == "lexelt":
            self._word = self._attribute(name, attributes, "item")
        elif name == "instance":
            if self._word is None or self._instance is not None:
                self._fail("expected <instance> inside <lexelt>, got it elsewhere.")
            number = self._attribute(name, attributes, "id")
            if number in self._ids:
                self._fail(f"expected each instance once, got {shown(number)} again.")
            self._ids.add(number)
            self._instance, self._size = TreeBuilder(), 0
        if self._instance is not None:
            self._grow(len(name) + sum(map(len, attributes.values())))
            self._instance.start(name, attributes)

    def _attribute(self, element: str, attributes: dict[str, str], name: str) -> str:
        value = attributes.get(name, "")
        if not value:
            self._fail(f"expected the attribute {name!r} in <{element}>, got none.")
        return value

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > MAX_LINE:
            self._fail(f"expected an instance of at most {MAX_LINE:,} characters, got a longer one.")

    def _characters(self, text: str) -> None:
        if self._instance is not None:
            self._grow(len(text))
            self._instance.data(text)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name == "lexelt":
            self._word = None
        if self._instance is not None:
            self._instance.end(name)
            if name == "instance":
                self.finished.append(self._occurrence(self._instance.close()))
                self._instance = None

    def _occurrence(self, instance: Element) -> Occurrence:
        id = instance.attrib["id"]
        answers = [answer for answer in instance.iter("answer") if answer.get("senseid")]
        other = next((answer.get("instance") for answer in answers if answer.get("instance", id) != id), None)
        if other is not None:
            self._fail(f"expected an answer for the instance {shown(id)} around it, got one for {shown(other)}.")
        runs: list[tuple[str, list[str]]] = []
        for context in instance.iter("context"):
            runs.append(("", []))
            _collect(context, "", runs)
        tokens: list[str] = []
        places: dict[str, list[int]] = {"": [], "head": [], "sat": []}
        for mark, texts in runs:
            begin = len(tokens)
            tokens += "".join(texts).split()
            places[mark] += range(begin, len(tokens))
        if not places["head"]:
            self._fail(f"expected a word in <head> in the context of {id[:60]}, got none.")
        target, *others = places["head"]
        senses = self._answers.get(id, [answer.attrib["senseid"] for answer in answers])
        satellites = sorted(others + places["sat"])
        source = instance.get("docsrc", "")
        return Occurrence(str(self._word), id, share(tokens), target, tuple(senses), tuple(satellites), source)


def _collect(element: Element, mark: str, runs: list[tuple[str, list[str]]]) -> None:
    """Add the text of an element to runs of text that are, or are not, inside ``<head>`` or ``<sat>``, whose edges end tokens."""
    is_marked = element.tag in ("head", "sat")
    if is_marked:
        runs.append((element.tag, []))
    runs[-1][1].append(element.text or "")
    for child in element:
        _collect(child, element.tag if is_marked else mark, runs)
        runs[-1][1].append(child.tail or "")
    if is_marked:
        runs.append((mark, []))


def _read_dtd(path: FilePath, parser: Any) -> None:
    """Declare those entities of a DTD that are plain text: so nothing is fetched, and nothing can grow."""
    with open_bytes(path) as file:
        data = file.read(_MAX_DTD + 1)
    if len(data) > _MAX_DTD:
        raise FormatError(path, None, f"expected a DTD of at most {_MAX_DTD:,} bytes, got more.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    first, *parts = text.split("<!--")
    bare = first + "".join(part.partition("-->")[2] for part in parts)
    for name, double, single in _ENTITY.findall(bare):
        value = html.unescape(double or single)
        if not set("&<%") & set(value):
            parser.Parse(f'<!ENTITY {name} "{"".join(f"&#{ord(character)};" for character in value)}">'.encode())
    parser.Parse(b"", True)


def read_senseval(
    path: FilePath,
    key: FilePath | Mapping[str, tuple[str, ...]] | None = None,
    dtd: FilePath | None = None,
) -> Iterator[Occurrence]:
    r"""Read the instances of a Senseval-2 or -3 lexical sample, one at a time.

    Parameters
    ----------
    path : path-like
        The XML file; gzip, bzip2 and xz are decompressed.
    key : path-like, mapping or None
        Answer key (or what `read_key` made of it). Where it names an instance, it counts instead of the answers in
        the file.
    dtd : path-like or None
        File that declares the entities. None: the ``.dtd`` file that the document names, if it is in the same folder.

    Yields
    ------
    Occurrence
        `target` is the first token of ``<head>``; further tokens of it, further heads and ``<sat>`` elements are the
        `satellites`. The edges of these elements always separate tokens. `senses` are as in the key, with ``P``
        (proper name) and ``U`` (unassignable).

    Raises
    ------
    FormatError
        With ``path:line:``, if the XML is broken, an instance has no id or no head or comes twice, an answer names
        another instance than the one around it, an entity is not declared, or the file declares entities itself: no
        entity is taken but plain text of the DTD, and nothing else is opened.

    Notes
    -----
    Memory is bounded but for the ids: one instance at a time, at most 16 MiB each, nesting of at most 100 elements.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.xml"
    >>> _ = target.write_text('<corpus><lexelt item="art.n"><instance id="art.1"><answer instance="art.1" '
    ...     'senseid="art%1:06:00::"/><context>modern <head>art</head> .</context></instance></lexelt></corpus>')
    >>> [(o.word, o.tokens, o.target, o.senses) for o in read_senseval(target)]
    [('art.n', ('modern', 'art', '.'), 1, ('art%1:06:00::',))]
    """
    answers = key if isinstance(key, Mapping) else {} if key is None else read_key(key)
    parser = _SensevalParser(path, answers, dtd)
    has_any = False
    for chunk in _chunks(path):
        parser.feed(chunk, final=not chunk)
        if parser.finished:
            has_any = True
            yield from parser.finished
            parser.finished.clear()
    if not has_any:
        raise FormatError(path, None, "expected <instance> elements of a Senseval lexical sample, got none.")


def _chunks(path: FilePath) -> Iterator[bytes]:
    """Yield the bytes of a file piece by piece, and nothing at its end."""
    with open_bytes(path) as file:
        chunk = file.read(_CHUNK)
        if not chunk:
            raise FormatError(path, None, "the file is empty.")
        if b"\0" in chunk and chunk[:2] not in (b"\xff\xfe", b"\xfe\xff"):
            raise FormatError(path, None, "expected XML, got a binary file (it holds NUL bytes).")
        while chunk:
            yield chunk
            chunk = file.read(_CHUNK)
    yield b""


def read_key(path: FilePath) -> dict[str, tuple[str, ...]]:
    """Read an answer key: ``word instance sense [sense ...]`` on each line.

    Parameters
    ----------
    path : path-like
        The key; text after ``!!`` is a remark.

    Returns
    -------
    dict of str to tuple of str
        Senses of each instance.

    Raises
    ------
    FormatError
        If a line has fewer than three words, or an instance comes twice.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.key"
    >>> _ = target.write_text("art art.30003 P art%1:04:00::")
    >>> read_key(target)
    {'art.30003': ('P', 'art%1:04:00::')}
    """
    key: dict[str, tuple[str, ...]] = {}
    for number, line in read_lines(path):
        fields = line.partition("!!")[0].split()
        if not fields:
            continue
        if len(fields) < 3:
            raise FormatError(path, number, f"expected a word, an instance and its senses, got {len(fields)} field(s).")
        if fields[1] in key:
            raise FormatError(path, number, f"expected each instance once, got {fields[1][:60]} again.")
        key[fields[1]] = tuple(fields[2:])
    if not key:
        raise FormatError(path, None, "expected a word, an instance and its senses on each line, got only blank lines.")
    return key


def read_sense_map(path: FilePath) -> dict[str, str]:
    """Read a sense map for coarse scoring: ``sense [n parent ...]`` on each line.

    Parameters
    ----------
    path : path-like
        The map.

    Returns
    -------
    dict of str to str
        The coarse sense (the last parent on the line) of every sense that the file names; a sense without parent
        maps to itself. A sense that is listed both with and without parent has the parent.

    Raises
    ------
    FormatError
        If a line has not the form above, or a sense has two different parents.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.map"
    >>> _ = target.write_text("art%1:10:00:: 2 art%1:06:00::")
    >>> read_sense_map(target)
    {'art%1:10:00::': 'art%1:06:00::', 'art%1:06:00::': 'art%1:06:00::'}
    """
    parents: dict[str, str] = {}
    senses: dict[str, None] = {}
    for number, line in read_lines(path):
        fields = line.split()
        if not fields:
            continue
        if len(fields) % 2 == 0 or not all(count.isdigit() for count in fields[1::2]):
            raise FormatError(path, number, f"expected a sense and pairs of a number and a parent, got {shown(line)}.")
        senses.update(dict.fromkeys(fields[::2]))
        if len(fields) > 1 and parents.setdefault(fields[0], fields[-1]) != fields[-1]:
            raise FormatError(path, number, f"expected one parent of {fields[0][:60]}, got {fields[-1][:60]} too.")
    if not senses:
        raise FormatError(path, None, "expected senses and their parents, got only blank lines.")
    return {sense: parents.get(sense, sense) for sense in senses}


def is_senseval(head: Head) -> bool:
    """Detect XML by the start of a file."""
    return _XML.match(head.text) is not None


SENSEVAL_FORMAT = Format("senseval", "occurrences", is_senseval, read_senseval)


def read_sense_table(path: FilePath) -> Iterator[Occurrence]:
    r"""Read words in context from separated columns with a header.

    Parameters
    ----------
    path : path-like
        Columns ``text``, ``word`` or its place or both, and ``sense`` (empty where it is not known). A place is ``target_index``
        (position of the token, text split at spaces) or ``start`` (its first character). Without a place the word is
        searched in the text; without a word it is the token there, in lower case.

    Yields
    ------
    Occurrence
        In the order of the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.tsv"
    >>> _ = target.write_text("text\tword\tsense\nthe river bank\tbank\tshore\n")
    >>> [(o.word, o.tokens, o.target, o.senses) for o in read_sense_table(target)]
    [('bank', ('the', 'river', 'bank'), 2, ('shore',))]
    """
    source = as_source(path)
    number = 0
    for frame in read_delimited(source, bounded=False):
        names = {name.lower(): name for name in frame.columns}
        for row in frame.iter_rows(named=True):
            number += 1
            yield _occurrence(source, number, {low: str(row[name]).strip() for low, name in names.items()})


def _occurrence(path: FilePath, number: int, row: dict[str, str]) -> Occurrence:
    text, place = row.get("text", ""), row.get("target_index", "")
    if place:
        tokens = tuple(text.split())
        if not place.isdigit() or int(place) >= len(tokens):
            message = f"expected the place of a token (0 to {len(tokens) - 1}), got {shown(place)}."
            raise FormatError(path, number + 1, message)
        target = int(place)
    else:
        target, tokens = _located(path, number + 1, text, row)
    word = row.get("word", "") or tokens[target].lower()
    senses = tuple(sense for sense in row.get("sense", "").replace("|", " ").split() if sense not in MISSING)
    return Occurrence(word, row.get("id") or f"{word}.{number}", tokens, target, senses)


def _located(path: FilePath, line: int, text: str, row: dict[str, str]) -> tuple[int, tuple[str, ...]]:
    """Return the token at the character in the row, or else the first that is the word."""
    from handful.data.text import tokenize

    cut = tokenize(text)
    start = int(row["start"]) if row.get("start", "").isdecimal() else _find(path, line, cut, row.get("word", ""))
    target = next((i for i, token in enumerate(cut) if token.start <= start < token.end), -1)
    if target < 0:
        raise FormatError(path, line, f"expected a word at character {start} of the text, got none.")
    return target, tuple(token.text for token in cut)


def _find(path: FilePath, line: int, cut: Sequence[Token], word: str) -> int:
    bare = word.split(".")[0].lower()
    # The very word comes before a form of it.
    ranked = sorted(cut, key=lambda token: token.text.lower() != bare)
    for token in ranked:
        if bare and token.text.lower().startswith(bare):
            return token.start
    raise FormatError(path, line, f"expected the word {shown(word)} in the text, got it nowhere.")


def write_sense_table(path: FilePath, occurrences: Iterable[Occurrence]) -> None:
    """Write words in context as columns with tabs.

    Parameters
    ----------
    path : path-like
        The file.
    occurrences : iterable of Occurrence
        The words in context; text has spaces between tokens.
    """
    from handful.data.files import write_text_file

    with write_text_file(path) as file:
        file.write("id\ttext\tword\ttarget_index\tsense\n")
        for item in occurrences:
            cells: list[Any] = [item.id, " ".join(item.tokens), item.word, item.target, " ".join(item.senses)]
            file.write("\t".join(map(str, cells)) + "\n")


def is_sense_table(head: Head) -> bool:
    """Detect a table whose header names a text, a word or its place, and a sense."""
    return names_text_and_word(head) and "sense" in _named(head) and is_delimited(head)


def names_text_and_word(head: Head) -> bool:
    r"""Return whether the first line of a table names a text, and a word or its place.

    Examples
    --------
    >>> names_text_and_word(Head(b"id,text,word\n1,the river bank,bank\n"))
    True
    """
    names = _named(head)
    return "text" in names and bool(names & {"word", "target_index", "start"})


def _named(head: Head) -> set[str]:
    first = head.filled[0].lower() if head.filled else ""
    return {name.strip(' "') for name in first.replace("\t", ",").replace(";", ",").split(",")}


SENSE_TABLE_FORMAT = Format(
    "sense-table", "occurrences", is_sense_table, read_sense_table, write_sense_table, (".tsv",)
)


def read_occurrences(path: FilePath, key: FilePath | None = None) -> Iterator[Occurrence]:
    r"""Read words in context; the format is detected by content.

    Parameters
    ----------
    path : path-like
        Senseval XML, or separated columns with text, word or its place and, where it is known, sense (see
        `handful.data.senses.read_sense_table`).
    key : path-like or None
        Answer key that goes with Senseval XML.

    Returns
    -------
    iterator of Occurrence
        In the order of the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = target.write_text("text,word,sense\nthe river bank,bank,shore\n")
    >>> [item.senses for item in read_occurrences(target)]
    [('shore',)]
    """
    source = as_source(path)
    format = format_of(source)
    if format.name == "senseval":
        return read_senseval(source, key=key)
    if format.yields == "table" and names_text_and_word(Head.of(source)):
        format = format_named("sense-table")  # new contexts have no senses yet
    if format.yields != "occurrences":
        raise FormatError(
            path,
            None,
            "expected Senseval XML, or a table with the columns text and word or start (and sense, where it is known), got "
            f"{'a table without them' if format.yields == 'table' else 'something else'}.",
        )
    if key is not None:
        raise ParameterError(f"{path}: a key goes with Senseval XML, got a {format.name}.")
    occurrences: Iterator[Occurrence] = format.read(source)
    return occurrences


def read_answers(path: FilePath) -> dict[str, tuple[str, ...]]:
    r"""Read the senses of instances: from an answer key, or from words in context that have their senses.

    Parameters
    ----------
    path : path-like
        Lines of ``word instance sense ...``, or anything that `read_occurrences` takes.

    Returns
    -------
    dict of str to tuple of str
        Senses of each instance; contexts without a sense are left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = target.write_text("text,word,sense\nthe river bank,bank,shore\n")
    >>> read_answers(target)
    {'bank.1': ('shore',)}
    """
    source = as_source(path)
    if format_of(source).yields != "occurrences":
        return read_key(path)
    return {item.id: item.senses for item in read_occurrences(source) if item.senses}
