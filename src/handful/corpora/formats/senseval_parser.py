"""Events of an XML parser to the occurrences of a Senseval lexical sample, with hard limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from handful.core.errors import FormatError
from handful.core.records import Occurrence
from handful.corpora.formats.dtd import as_declarations, read_entities
from handful.corpora.formats.sharing import Sharing
from handful.corpora.formats.shown import shown
from handful.corpora.opening import MAX_LINE, FilePath

_MAX_DEPTH = 100
_MAX_NAMES = 200
_INVALID_TOKEN = expat.errors.codes[expat.errors.XML_ERROR_INVALID_TOKEN]

Split = Callable[[str], Iterable[str]]


class SensevalParser:
    """Collects occurrences while it is fed with XML.

    Parameters
    ----------
    path : path-like
        Name of the file, for messages and to find the DTD beside it.
    answers : mapping of str to tuple of str
        Senses that replace those of the file.
    dtd : path-like or None
        File that declares the entities.
    split : callable
        Cuts text into tokens.

    Attributes
    ----------
    finished : list of Occurrence
        Those read so far; whoever takes them clears the list.

    Examples
    --------
    >>> parser = SensevalParser("a.xml", {}, None, str.split)
    >>> parser.feed(b"<corpus><lexelt item='art.n'><instance id='art.1'><context>modern <head>art</head>")
    >>> parser.feed(b"</context></instance>")
    >>> [occurrence.id for occurrence in parser.finished]
    ['art.1']
    """

    def __init__(
        self, path: FilePath, answers: Mapping[str, tuple[str, ...]], dtd: FilePath | None, split: Split
    ) -> None:
        self._path = path
        self._answers = answers
        self._dtd = dtd
        self._split = split
        self._share = Sharing()
        self.finished: list[Occurrence] = []
        self._names: set[str] = set()
        self._ids: set[str] = set()
        self._depth = 0
        self._word: str | None = None
        self._id: str | None = None
        self._source = ""
        self._in_context = False
        self._fed = 0
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
        self._clear()

    def _clear(self) -> None:
        self._senses: list[str] = []
        self._text: list[str] = []
        self._size = 0
        self._tokens: list[str] = []
        self._marked: list[int] = []
        self._target: int | None = None

    def _fail(self, message: str) -> NoReturn:
        raise FormatError(self._path, self._parser.CurrentLineNumber, message)

    def feed(self, data: bytes, final: bool = False) -> None:
        """Take in the next bytes; `final` says that there are no more."""
        self._fed += len(data)
        try:
            self._parser.Parse(data, final)
        except expat.ExpatError as error:
            hint = self._hint(data) if error.code == _INVALID_TOKEN else ""
            message = (
                f"expected well-formed XML, got an error at column {error.offset + 1}: {expat.ErrorString(error.code)}."
            )
            raise FormatError(self._path, error.lineno, message + hint) from None
        except (LookupError, ValueError) as error:
            if isinstance(error, FormatError) or self._names:
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
            beside = Path(self._path).parent / system
            dtd = beside if beside.is_file() else None
        if dtd is not None:
            declarations = self._parser.ExternalEntityParserCreate(context, "utf-8")
            declarations.Parse(as_declarations(read_entities(dtd)), True)
        return 1

    def _check_doctype(self, name: str, system: str | None, public: str | None, has_declarations: int) -> None:
        # Bombs of nested entities, external entities and huge default attributes all need declarations in the file.
        if has_declarations:
            self._fail(
                "expected no declarations in the file itself, got some. Declare entities in a DTD file beside it."
            )

    def _refuse_entity(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            self._fail(f"expected an entity that the DTD declares, got &{name[:60]};. Name the right DTD file.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            self._fail(f"expected at most {_MAX_DEPTH} elements inside one another, got more.")
        self._names.add(name)
        self._names.update(attributes)
        if len(self._names) > _MAX_NAMES:
            self._fail(f"expected at most {_MAX_NAMES} names of elements and attributes, got more.")
        if name == "lexelt":
            self._word = self._attribute(name, attributes, "item")
        elif name == "instance":
            self._start_instance(attributes)
        elif name == "answer" and attributes.get("senseid"):
            self._answer(attributes)
        elif name == "context":
            self._in_context = True
        elif name in ("head", "sat"):
            self._cut()

    def _start_instance(self, attributes: dict[str, str]) -> None:
        if self._word is None:
            self._fail("expected <instance> inside <lexelt>, got it outside.")
        if self._id is not None:
            self._fail(f"expected the end of instance {self._id[:60]}, got another <instance>.")
        self._id = self._attribute("instance", attributes, "id")
        if self._id in self._ids:
            self._fail(f"expected each instance once, got {shown(self._id)} again.")
        self._ids.add(self._id)
        self._source = attributes.get("docsrc", "")

    def _answer(self, attributes: dict[str, str]) -> None:
        if self._id is None:
            self._fail("expected <answer> inside <instance>, got it outside.")
        other = attributes.get("instance", self._id)
        if other != self._id:
            self._fail(f"expected an answer for the instance {shown(self._id)} around it, got one for {shown(other)}.")
        self._grow(len(attributes["senseid"]))
        self._senses.append(attributes["senseid"])

    def _attribute(self, element: str, attributes: dict[str, str], name: str) -> str:
        value = attributes.get(name, "")
        if not value:
            self._fail(f"expected the attribute {name!r} in <{element}>, got none.")
        return value

    def _characters(self, text: str) -> None:
        if self._in_context:
            self._grow(len(text))
            self._text.append(text)

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > MAX_LINE:
            self._fail(f"expected an instance of at most {MAX_LINE:,} characters, got a longer one.")

    def _cut(self) -> tuple[int, int]:
        """Turn the text so far into tokens; return where they begin and end."""
        begin = len(self._tokens)
        if self._text:
            self._tokens.extend(self._split("".join(self._text)))
            self._text.clear()
        return begin, len(self._tokens)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name in ("head", "sat") and self._in_context:
            begin, end = self._cut()
            if name == "head" and self._target is None and begin < end:
                self._target = begin
                begin += 1
            self._marked.extend(range(begin, end))
        elif name == "context":
            self._cut()
            self._in_context = False
        elif name == "lexelt":
            self._word = None
        elif name == "instance":
            self._finish()

    def _finish(self) -> None:
        if self._word is None or self._id is None:
            self._fail("expected <instance> inside <lexelt>, got it outside.")
        if self._target is None:
            self._fail(f"expected a word in <head> in the context of {self._id[:60]}, got none.")
        senses = self._answers.get(self._id, self._senses)
        tokens = self._share(self._tokens)
        self.finished.append(
            Occurrence(self._word, self._id, tokens, self._target, tuple(senses), tuple(self._marked), self._source)
        )
        self._id = None
        self._clear()
