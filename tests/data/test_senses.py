"""Senseval lexical samples: what is read, and that no file can fetch, expand or fill anything."""

from __future__ import annotations

import gzip
import re

import pytest

from handful.data.files import MAX_LINE
from handful.data.records import Occurrence
from handful.data.senses import read_key, read_sense_map, read_senseval
from handful.errors import FormatError

DOCTYPE = '<!DOCTYPE corpus SYSTEM "lexical-sample.dtd">\n'
DTD = """<?xml version="1.0"?>
<!-- <!ENTITY hidden "no">
-->
<!ELEMENT corpus (lexelt+)>
<!ENTITY bquo "[bquo]">
<!ENTITY eacute "&#233;">
<!ENTITY bquo "second">
"""


def instance(context, attributes='id="art.1"', before=""):
    return f"<instance {attributes}>{before}<context>{context}</context></instance>"


def corpus(*instances, doctype="", word="art.n"):
    return f"{doctype}<corpus lang='english'>\n<lexelt item='{word}'>\n{''.join(instances)}\n</lexelt></corpus>\n"


@pytest.fixture
def put(tmp_path):
    def write(text, name="a.xml"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def refused(path, message, **options):
    with pytest.raises(FormatError) as caught:
        list(read_senseval(path, **options))
    assert str(caught.value) == f"{path}{message}"


def test_heads_satellites_answers_and_sources(put):
    context = 'The\n bill <head sats="s.1">calls</head>again <sat id="s.1">for</sat>. <head>x y</head>'
    answers = '<answer instance="art.1" senseid="a%1::"/><answer instance="art.1" senseid="U"/>'
    path = put(corpus(instance(context, 'id="art.1" docsrc="wsj_1"', answers), instance("<head>b c</head>", 'id="2"')))
    assert list(read_senseval(path)) == [
        Occurrence(
            "art.n",
            "art.1",
            ("The", "bill", "calls", "again", "for", ".", "x", "y"),
            2,
            ("a%1::", "U"),
            (4, 6, 7),
            "wsj_1",
        ),
        Occurrence("art.n", "2", ("b", "c"), 0, (), (1,)),
    ]


def test_the_key_counts_instead_of_the_answers(put):
    path = put(corpus(*(instance("<head>b</head>", f'id="{n}"', '<answer senseid="old"/>') for n in (1, 2))))
    key = put("art 1 P new !! remark\n\n", "a.key")
    assert [o.senses for o in read_senseval(path, key)] == [("P", "new"), ("old",)]
    assert [o.senses for o in read_senseval(path, read_key(key))] == [("P", "new"), ("old",)]


def test_entities_come_from_the_dtd_beside_the_file_or_the_one_given(put, tmp_path):
    path = put(corpus(instance("&bquo;a &eacute; &amp; <head>b</head>", 'id="&bquo;1"'), doctype=DOCTYPE))
    refused(path, ":4: expected an entity that the DTD declares, got &bquo;. Name the right DTD file.")
    dtd = put(DTD, "lexical-sample.dtd")
    wanted = ("[bquo]a", "\u00e9", "&", "b")
    (found,) = read_senseval(path)
    assert (found.tokens, found.id) == (wanted, "[bquo]1")
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    dtd = dtd.rename(elsewhere / "x.dtd")
    assert next(read_senseval(path, dtd=dtd)).tokens == wanted
    bare = put(corpus(instance("&bquo;a <head>b</head>")))
    assert next(read_senseval(bare, dtd=dtd)).tokens == ("[bquo]a", "b")


def test_latin_1_is_read_as_declared(put):
    text = '<?xml version="1.0" encoding="iso-8859-1"?>' + corpus(instance("Op\u00e9ra <head>b</head>"))
    assert next(read_senseval(put(gzip.compress(text.encode("latin-1"))))).tokens == ("Op\u00e9ra", "b")


@pytest.mark.parametrize("name", ["../x.dtd", "/x.dtd", "http://example.org/x.dtd", "c:x.dtd", "x.txt"])
def test_no_dtd_is_taken_from_elsewhere(tmp_path, name):
    folder = tmp_path / "inner"
    folder.mkdir()
    for dtd in (tmp_path / "x.dtd", folder / "x.dtd", folder / "x.txt"):
        dtd.write_text('<!ENTITY secret "read">')
    path = folder / "a.xml"
    path.write_text(corpus(instance("&secret; <head>b</head>"), doctype=f'<!DOCTYPE corpus SYSTEM "{name}">\n'))
    refused(path, ":4: expected an entity that the DTD declares, got &secret;. Name the right DTD file.")


BOMB = '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">' + "".join(
    f'<!ENTITY {chr(c + 1)} "{("&" + chr(c) + ";") * 10}">' for c in range(ord("b"), ord("l"))
)


@pytest.mark.parametrize(
    "declarations",
    [
        BOMB,
        '<!ENTITY l SYSTEM "file:///etc/passwd">',
        '<!ENTITY l SYSTEM "http://127.0.0.1:9/x">',
        '<!ENTITY % p SYSTEM "http://127.0.0.1:9/x"> %p;',
        '<!ENTITY l "&l;">',
        '<!ENTITY % a "&#37;a;"> %a;',
        '<!ATTLIST instance docsrc CDATA "' + "x" * 1000 + '">',
    ],
    ids=[
        "bomb",
        "external file",
        "external address",
        "parameter entity",
        "recursion",
        "recursive parameter",
        "attlist",
    ],
)
@pytest.mark.parametrize("system", ["", 'SYSTEM "lexical-sample.dtd" '])
def test_declarations_in_the_file_are_refused(put, declarations, system):
    put(DTD, "lexical-sample.dtd")
    path = put(corpus(instance("&l; <head>b</head>"), doctype=f"<!DOCTYPE corpus {system}[{declarations}]>\n"))
    message = ":1: expected no declarations in the file itself, got some. Declare entities in a DTD file."
    refused(path, message)


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a "b">\n<!ENTITY c "&a;">',
        '<!ENTITY c "&c;">',
        '<!ENTITY c "&#38;#60;head>">',
        '<!ENTITY c "<head>x</head>">',
        '<!ENTITY % c "x">',
        '<!ENTITY c SYSTEM "x">',
        "<!ENTITY c>",
        "<!--<!ENTITY c 'b'>" + "<!--" * 200_000,
        f'<!ENTITY c "{"x" * 1001}">',
    ],
    ids=range(9),
)
def test_entities_that_are_more_than_text_are_not_declared(put, declaration):
    put(declaration, "lexical-sample.dtd")
    path = put(corpus(instance("&c; <head>b</head>"), doctype=DOCTYPE))
    refused(path, ":4: expected an entity that the DTD declares, got &c;. Name the right DTD file.")


def test_a_dtd_without_end_is_refused(put):
    dtd = put(" " * 2**21, "lexical-sample.dtd")
    with pytest.raises(FormatError, match="expected a DTD of at most 1,048,576 bytes, got more") as caught:
        list(read_senseval(put(corpus(instance("<head>b</head>"), doctype=DOCTYPE))))
    assert str(caught.value).startswith(str(dtd))


def test_broken_xml(put):
    path = put("<corpus>\n<lexelt item='a'>R & D</lexelt></corpus>")
    hint = "Write & as &amp; and < as &lt; in text."
    refused(path, f":2: expected well-formed XML, got an error at column 21: not well-formed (invalid token). {hint}")
    latin = put(corpus(instance("Op\u00e9ra <head>b</head>")).encode("latin-1"))
    with pytest.raises(
        FormatError, match=r'invalid token\). Name the encoding on the first line, as in <\?xml version="1.0"'
    ):
        list(read_senseval(latin))
    refused(put("<corpus>\n"), ":2: expected well-formed XML, got an error at column 1: no element found.")
    refused(put("Rome fell\n"), ":1: expected well-formed XML, got an error at column 1: syntax error.")


def test_an_unknown_encoding(put):
    path = put('<?xml version="1.0" encoding="klingon"?><corpus/>')
    with pytest.raises(FormatError, match=r"a\.xml:1: expected a known encoding, got an error"):
        list(read_senseval(path))


def test_empty_and_binary_files(put):
    refused(put(b""), ": the file is empty.")
    refused(put(b"<corpus>\0"), ": expected XML, got a binary file (it holds NUL bytes).")
    refused(put("<corpus/>"), ": expected <instance> elements of a Senseval lexical sample, got none.")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (corpus(instance("no head")), ":3: expected a word in <head> in the context of art.1, got none."),
        (corpus(instance("<head> </head>")), ":3: expected a word in <head> in the context of art.1, got none."),
        (corpus("<instance id='art.1'/>"), ":3: expected a word in <head> in the context of art.1, got none."),
        (corpus(instance("x", "")), ":3: expected the attribute 'id' in <instance>, got none."),
        (corpus(word=""), ":2: expected the attribute 'item' in <lexelt>, got none."),
        ("<corpus><instance id='1'/></corpus>", ":1: expected <instance> inside <lexelt>, got it elsewhere."),
        (corpus(instance(instance("x"))), ":3: expected <instance> inside <lexelt>, got it elsewhere."),
        (
            corpus(instance("<head>b</head>", before='<answer instance="other" senseid="s"/>')),
            ":3: expected an answer for the instance 'art.1' around it, got one for 'other'.",
        ),
        (corpus(*[instance("<head>b</head>")] * 2), ":3: expected each instance once, got 'art.1' again."),
        ("<a>" * 101, ":1: expected at most 100 elements inside one another, got more."),
    ],
)
def test_malformed_instances(put, text, message):
    refused(put(text), message)


@pytest.mark.parametrize(
    ("part", "what"),
    [
        ("x" * (MAX_LINE + 2**20), "an instance of at most 16,777,216 characters, got a longer one"),
        ('<head id="' + "x" * (MAX_LINE + 2**20), "XML elements of at most 16,777,216 bytes, got a longer one"),
    ],
)
def test_bombs_of_text_end_early(put, part, what):
    path = put(gzip.compress(corpus(instance(part)).encode(), 1))
    with pytest.raises(FormatError, match=f"expected {what}"):
        list(read_senseval(path))


def test_malformed_keys(put):
    for text, message in [
        ("art 1\n", ":1: expected a word, an instance and its senses, got 2 field(s)."),
        ("art 1 a\nart 1 b\n", ":2: expected each instance once, got 1 again."),
        ("\n", ": expected a word, an instance and its senses on each line, got only blank lines."),
    ]:
        path = put(text, "a.key")
        with pytest.raises(FormatError, match=re.escape(f"{path}{message}")):
            read_key(path)


def test_sense_maps(put):
    path = put("a 2 b\nc\na\nd 1 a 3 b\n", "a.map")
    assert read_sense_map(path) == {"a": "b", "b": "b", "c": "c", "d": "b"}
    for text, message in [
        ("a 2\n", ":1: expected a sense and pairs of a number and a parent, got 'a 2'."),
        ("c\na x b\n", ":2: expected a sense and pairs of a number and a parent, got 'a x b'."),
        ("a 1 b\na 1 c\n", ":2: expected one parent of a, got c too."),
        ("\n", ": expected senses and their parents, got only blank lines."),
    ]:
        path = put(text, "a.map")
        with pytest.raises(FormatError, match=re.escape(f"{path}{message}")):
            read_sense_map(path)
