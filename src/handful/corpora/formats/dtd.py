"""Entities that a DTD declares as plain text, and nothing else of it."""

from __future__ import annotations

import re

from handful.core.errors import FormatError
from handful.corpora.formats.shown import shown
from handful.corpora.opening import FilePath, open_bytes

_MAX_BYTES = 2**20
_MAX_VALUE = 1000
_DECLARATION = re.compile(r"<!ENTITY\s+(%\s+)?(\S+)\s*([^>\"']*)(\"[^\"]*\"|'[^']*')?", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_REFERENCE = re.compile(r"&#x([0-9A-Fa-f]{1,6});|&#([0-9]{1,7});|&(amp|lt|gt|quot|apos);|([&%][^\s&%;]*;|&)")
_PREDEFINED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_entities(path: FilePath) -> dict[str, str]:
    r"""Read the ``<!ENTITY name "text">`` declarations of a DTD file.

    Parameters
    ----------
    path : path-like
        The DTD, in UTF-8 or else Latin-1.

    Returns
    -------
    dict of str to str
        Text of each entity; the first declaration of a name counts.

    Raises
    ------
    FormatError
        If an entity is external, a parameter entity, refers to another entity or is longer than 1,000 characters:
        only plain text is taken, so that nothing is fetched and nothing can grow.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.dtd"
    >>> _ = target.write_text('<!-- quotes -->\n<!ENTITY bquo "[bquo]">\n<!ENTITY eacute "&#233;">')
    >>> read_entities(target)
    {'bquo': '[bquo]', 'eacute': 'é'}
    """
    with open_bytes(path) as file:
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise FormatError(path, None, f"expected a DTD of at most {_MAX_BYTES:,} bytes, got more.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    text = _without_comments(text)
    entities: dict[str, str] = {}
    for match in _DECLARATION.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        parameter, name, keyword, quoted = match.groups()
        if parameter or keyword or not quoted or not _NAME.fullmatch(name):
            raise FormatError(path, line, f"expected an entity of plain text, got {_short(match[0])}.")
        value = _plain(path, line, name, quoted[1:-1])
        if name not in _PREDEFINED:
            entities.setdefault(name, value)
    return entities


def _without_comments(text: str) -> str:
    """Replace comments by blank lines, so that line numbers stay right; one without end goes to the end."""
    kept, *rest = text.split("<!--")
    for part in rest:
        comment, end, after = part.partition("-->")
        kept += "\n" * comment.count("\n") + after
        if not end:
            break
    return kept


def _plain(path: FilePath, line: int, name: str, value: str) -> str:
    def character(match: re.Match[str]) -> str:
        hexadecimal, decimal, predefined, other = match.groups()
        if other:
            raise FormatError(
                path, line, f"expected plain text for entity {shown(name)}, got a reference to {shown(other)}."
            )
        if predefined:
            return _PREDEFINED[predefined]
        code = int(hexadecimal, 16) if hexadecimal else int(decimal)
        return chr(code) if code <= 0x10FFFF else "\0"

    value = _REFERENCE.sub(character, value)
    if len(value) > _MAX_VALUE:
        raise FormatError(path, line, f"expected at most {_MAX_VALUE:,} characters for entity {shown(name)}, got more.")
    if _ILLEGAL.search(value):
        raise FormatError(path, line, f"expected characters that XML allows in entity {shown(name)}, got others.")
    return value


def _short(text: str) -> str:
    return repr(" ".join(text.split())[:60])


def as_declarations(entities: dict[str, str]) -> bytes:
    """Write a table of entities as declarations that an XML parser takes as plain text.

    Parameters
    ----------
    entities : dict of str to str
        As `read_entities` gives it.

    Returns
    -------
    bytes
        Declarations in UTF-8.

    Examples
    --------
    >>> as_declarations({"bquo": "[<]"})
    b'<!ENTITY bquo "[&#38;#60;]">'
    """
    # A value is read twice, when declared and when used: & and < must still be escaped after the first reading.
    escapes = str.maketrans({"&": "&#38;#38;", "<": "&#38;#60;", '"': "&#34;", "%": "&#37;"})
    return "\n".join(f'<!ENTITY {name} "{value.translate(escapes)}">' for name, value in entities.items()).encode()
