"""Files of each kind -> running text."""

from __future__ import annotations

import struct
import zlib

import pytest

from mtp_cli.train.documents import Document, make_document, parted
from mtp_cli.train.markup import markdown_paragraphs, rst_paragraphs
from mtp_cli.train.readers import READERS, decoded


def read(kind: str, text: str) -> tuple[str, ...]:
    """The tidied paragraphs that a reader finds."""
    return make_document("s", "d", READERS[kind](text.encode())).paragraphs


def test_plain_text_is_cut_at_blank_lines() -> None:
    assert read("plain", "One line\nand the next.\n\n\n  Two. \n") == ("One line and the next.", "Two.")


def test_each_line_of_a_speech_is_a_paragraph() -> None:
    assert read("lines", "Mr. Speaker:\nThank you.\n") == ("Mr. Speaker:", "Thank you.")


def test_brown_words_become_text_again() -> None:
    tagged = (
        "\n\n\tA/at-hl Head/nn-hl\n\n\n\tHe/pps said/vbd ,/, ``/`` Go/vb home/nr ''/'' ,/, and/cc "
        "left/vbd ;/. ;/.\nWhy/wrb ?/. ?/.\n\n\n\tThe/at '/' good/jj '/' (/( old/jj )/) dog's/nn$ day/nn"
        " ./.\n"
    )
    assert read("brown", tagged) == ('He said, "Go home," and left; Why?', "The 'good' (old) dog's day.")


def test_html_gives_paragraphs_and_no_headings_listings_or_tables() -> None:
    page = (
        "<html><head><title>No</title></head><body><h1>No</h1><p>A <em>good</em>&nbsp;one.</p>"
        "<pre>no()</pre><table><tr><td><p>No.</p></td></tr></table><div>No.</div>"
        '<div class="para">\n  The second<br/>one. </div>'
        "<ul><li>An item.<ul><li>Inner.</li></ul></li></ul></body>"
    )
    assert read("html", page) == ("A good one.", "The second one.", "An item.", "Inner.")


def test_mallard_pages_are_read_as_html() -> None:
    page = "<page><info><desc>No</desc></info><title>No</title><p>Press <gui>OK</gui><link/>.</p></page>"
    assert read("html", page) == ("Press OK.",)


def test_json_gives_every_string_of_several_words() -> None:
    assert read("json", '{"a": ["One two.", 3, "key"], "b": {"c": "Three four."}}') == (
        "One two.",
        "Three four.",
    )
    with pytest.raises(ValueError, match="Expecting"):
        READERS["json"](b"{")


def test_r_books_are_lines_with_empty_lines_between_paragraphs() -> None:
    def packed(lines: list[str]) -> bytes:
        strings = [struct.pack(">II", 0x40009, len(line)) + line.encode() for line in lines]
        plain = b"X\n" + struct.pack(">II", 16, len(lines)) + b"".join(strings) + b"\0\0\x04\x02rest"
        return struct.pack(">I", len(plain)) + zlib.compress(plain)

    data = packed(["It was", "so.", "", "New."]) + packed(["Second book."])
    assert READERS["rdb"](data) == ["It was\nso.", "New.\nSecond book."]
    with pytest.raises(ValueError, match="header"):
        READERS["rdb"](b"\0\0\0\1not packed")


def test_markdown_leaves_prose() -> None:
    text = (
        "---\ntitle: x\n---\n# Head\n\nSome *good* text with `code` and a\n[link](a.html).\n\n"
        "```\nno\n\nno\n```\n\n"
        "- First item.\n- Second **item**.\n\n    indented = 1\n\n| a | b |\n\nsnake_case stays.\n"
    )
    assert make_document("s", "d", markdown_paragraphs(text)).paragraphs == (
        "Some good text with code and a link.",
        "First item.",
        "Second item.",
        "snake_case stays.",
    )


def test_rst_leaves_prose() -> None:
    text = (
        "Head\n====\n\nSee :ref:`the part <part>` and ``code``, *now*::\n\n    no()\n\n"
        ".. note:: no\n\n   no\n\n"
        "A `link <https://x>`_ ends it.\n"
    )
    assert make_document("s", "d", rst_paragraphs(text)).paragraphs == (
        "See the part and code, now:",
        "A link ends it.",
    )


def test_bytes_that_are_not_utf8_are_windows_1252() -> None:
    assert decoded(b"\xef\xbb\xbfol\xc3\xa9") == "olé"
    assert decoded(b"it\x92s") == "it’s"


def test_long_documents_are_parted_between_paragraphs() -> None:
    document = Document("s", "d", ("a b c", "d e f", "g h i"))
    assert parted(document) == [document]
    assert parted(document, size=4) == [
        Document("s", "d#1", ("a b c", "d e f")),
        Document("s", "d#2", ("g h i",)),
    ]
