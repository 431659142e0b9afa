"""Files of every kind -> text: what is kept, what is left out and said."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtp_cli.documents import read_documents
from mtp_cli.exits import UserError
from mtp_cli.readers import SUFFIXES, Document, Kind, ReadError, document


def read(name: str, text: str, kind: Kind | None = None) -> Document:
    return document(name, text.encode(), kind)


def test_plain_text_stays_as_it_is() -> None:
    text = "The town library.\n\nIt closes: soon.\r\nNote: bring a bag.\n"
    found = read("a.txt", text)
    assert (found.text, found.kind, found.left_out) == (text, Kind.article, ())


def test_markdown_is_read_for_its_prose() -> None:
    found = read(
        "a.md",
        "---\ntitle: The plan\nlayout: post\n---\n\n## Aim *now*\n\n[![build](b.svg)](https://ci.x) See [the "
        'page](https://a.b/c_(d) "t") and `code`.\n<!-- secret -->\n\n```sh\nrm -rf /\n```\n\n'
        "- **one** thing\n- two\n\n| a | b |\n|---|---|\n"
        "| c | d |\n\n[ref]: https://x.y\n",
    )
    assert found.text == (
        "The plan\n\nAim *now*\n\n See the page and `code`.\n\n- one thing\n- two\n\n| a | b |\n| c | d |\n"
    )
    assert found.left_out == ("1 block of code",)


def test_html_is_read_for_its_prose() -> None:
    page = (
        "<!DOCTYPE html><html><head><title>Roof &amp; wires</title><style>p{}</style>"
        "<script>x < 1</script></head>"
        "<body><nav><a>Home</a> <a>Shop</a></nav><main><h1>Library</h1>"
        "<p>It closes<br>in <b>March</b>. A &lt; B"
        "<p>Second.<ul><li>one<li>two</ul><table><tr><td>a</td><td>b</td></tr></table></main>"
        "<footer>Imprint</footer></body></html>"
    )
    found = read("a.html", page)
    assert found.text == (
        "Roof & wires\n\nLibrary\n\nIt closes\nin March. A < B\n\nSecond.\n\n- one\n- two\n\na | b"
    )
    assert read("page", page).text == found.text, "known by its first bytes"
    assert read("a.html", "<p>Unclosed <b>bold").text == "Unclosed bold"
    latin = "<html><head><meta charset=iso-8859-1></head><body>caf\xe9</body></html>".encode("latin-1")
    assert document("a.html", latin).text == "café"


SRT = (
    "1\r\n00:00:01,000 --> 00:00:02,500\r\n<i>The roof</i>\r\n\r\n2\r\n00:00:02,500 --> 00:00:04,000\r\n"
    "lets in {\\an8}water.\r\n\r\n3\r\n00:01:00,000 --> 00:01:02,000\r\nIt will be repaired.\r\n"
)


def test_subtitles_lose_numbers_and_times() -> None:
    found = read("a.srt", SRT)
    assert (found.text, found.kind) == ("The roof lets in water.\n\nIt will be repaired.\n", Kind.article)
    assert read("speech", SRT).text == found.text


def test_subtitles_with_speakers_are_a_chat() -> None:
    found = read(
        "a.vtt",
        "WEBVTT\n\nNOTE a remark\n\n00:01.000 --> 00:02.000\n<v Anna>Is it late?\n\n00:02.000 --> 00:03.000\n"
        "<v Ben>Yes.\n\n00:03.000 --> 00:04.000 align:start\n<v Ben>Very.\n",
    )
    assert (found.text, found.kind) == ("Anna: Is it late?\nBen: Yes. Very.", Kind.chat)


def test_captions_that_roll_on_are_taken_once() -> None:
    rolling = "".join(
        f"00:00:0{n}.000 --> 00:00:0{n + 1}.000\n{a}\n{b}\n\n"
        for n, (a, b) in enumerate(
            [("one two", "three four"), ("three four", "five six"), ("five six", "seven.")]
        )
    )
    assert read("a.vtt", f"WEBVTT\n\n{rolling}").text == "one two three four five six seven.\n"


MAIL = (
    'From: "Kim Lee" <kim@example.org>\nTo: all@example.org\nSubject: =?utf-8?q?Caf=C3=A9_on_Friday?=\n'
    "Date: Mon, 2 Mar 2026 10:00:00 +0000\nContent-Type: text/plain; charset=utf-8\n\n"
    "We meet at 5.\n\nOn Sun, 1 Mar 2026, Ben wrote:\n> When do we meet?\n> Tell me.\n-- \nKim\n+49 1\n"
)


def test_mail_without_quotes_and_signature() -> None:
    for name in ("a.eml", "saved"):
        found = read(name, MAIL)
        assert found.text == "From: Kim Lee\nSubject: Café on Friday\n\nWe meet at 5.\n"
        assert (found.kind, found.left_out) == (Kind.mail, ("3 lines of quoted mail",))
        assert found.messages[0].sender == "Kim Lee"


def test_mail_of_quotes_alone_stays() -> None:
    assert "When do" in read("a.eml", "From: a@b.c\nSubject: x\nDate: y\n\n> When do we meet?\n").text


def test_mailbox_and_html_mail_and_attachments() -> None:
    html = (
        "From: Ben <b@example.org>\nSubject: Re: Friday\nMIME-Version: 1.0\n"
        'Content-Type: multipart/mixed; boundary="B"\n\n--B\nContent-Type: text/html; charset=utf-8\n\n'
        "<p>I will <b>come</b>.</p>\n--B\nContent-Type: image/png\n"
        "Content-Disposition: attachment; filename=x.png\n"
        "Content-Transfer-Encoding: base64\n\nAAAA\n--B--\n"
    )
    box = f"From kim Mon Mar  2 10:00:00 2026\n{MAIL}\nFrom ben Mon Mar  2 11:00:00 2026\n{html}\n"
    for name in ("all.mbox", "all"):
        found = read(name, box)
        assert found.text.endswith("We meet at 5.\n\nFrom: Ben\nSubject: Re: Friday\n\nI will come.\n")
        assert len(found.messages) == 2
        assert "1 attachment" in found.left_out


@pytest.mark.parametrize("head", ["Content-Type: text/plain; charset=klingon\n", "Content-Type: ;;\n", ""])
def test_odd_mails_are_read_all_the_same(head: str) -> None:
    assert "Come at 5." in read("a.eml", f"From: =?x?q?=\nSubject: a\nDate: never\n{head}\nCome at 5.\n").text


CHATS = {
    "names": "Anna: Is it late?\nBen: Yes, very.\nand cold\nAnna: Then I stay.\nBen: Good.\n",
    "phone": "12/03/26, 10:01 - Anna: Is it late?\n12/03/26, 10:02 - Ben: Yes, very.\nand cold\n"
    "12/03/26, 10:02 - Messages and calls are end-to-end encrypted.\n"
    "12/03/26, 10:03 - Anna: Then I stay.\n12/03/26, 10:04 - Ben: Good.\n",
    "brackets": "[10:01:22] Anna: Is it late?\n[10:02:01] Ben: Yes, very.\nand cold\n"
    "[10:03:11] Anna: Then I stay.\n"
    "[10:03:14] Ben: Good.\n",
    "irc": "10:01 <Anna> Is it late?\n10:02 <Ben> Yes, very.\nand cold\n10:03 <Anna> Then I stay.\n"
    "10:03 <Ben> Good.\n",
}


@pytest.mark.parametrize("text", CHATS.values(), ids=CHATS)
def test_chat_logs_are_known_by_their_lines(text: str) -> None:
    found = read("chat.txt", text)
    assert found.kind is Kind.chat
    assert found.text == "Anna: Is it late?\nBen: Yes, very. and cold\nAnna: Then I stay.\nBen: Good."


@pytest.mark.parametrize(
    "text",
    [
        "Title: A book\nAuthor: Kim\nThe library closes. It opens later.\n",
        "Note: one\nWarning: two\nExample: three\n",
        "Some say: it is late. Others: it is not.\n",
        "He left: gone. Then came\nthe rest of them: all three\nand so on\n",
        "https://a.b/c: broken\nhttps://a.b/d: fine\nhttps://a.b/e: fine\n",
    ],
)
def test_articles_with_colons_are_no_chats(text: str) -> None:
    assert read("a.txt", text).kind is Kind.article
    assert read("a.txt", text).text == text


def test_numbered_people_are_a_chat() -> None:
    assert read("a.txt", "#Person1#: Hello.\n#Person2#: Hi.\n#Person1#: Bye.\n").text.startswith(
        "#Person1#: Hello."
    )
    assert read("a.txt", "#Person1#: Hello.\n#Person2#: Hi.\n#Person1#: Bye.\n").kind is Kind.chat


def test_exported_chats() -> None:
    rows = [
        {"from": "Anna", "text": ["Is it ", {"type": "bold", "text": "late"}, "?"]},
        {"from": "Ben", "text": "Yes."},
    ]
    wanted = "Anna: Is it late?\nBen: Yes."
    for data in (rows, {"name": "x", "messages": rows}):
        assert read("a.json", json.dumps(data)).text == wanted
    assert read("a.jsonl", "\n".join(map(json.dumps, rows))).text == wanted
    nested = [
        {"author": {"name": "Anna"}, "content": "Is it late?"},
        {"author": {"name": "Ben"}, "content": "Yes."},
    ]
    assert read("log", json.dumps(nested)).text == wanted


def test_notifications_as_json_and_as_lines() -> None:
    rows = [
        {"packageName": "Chat", "title": "Anna", "content": "Are you coming?", "when": "10:01"},
        {"app": "Mail", "sender": "Shop", "text": "Your parcel\nis here", "time": 1},
    ]
    wanted = "Chat, Anna: Are you coming?\nMail, Shop: Your parcel is here"
    lines = "Chat | Anna | 10:01 | Are you coming?\nMail | Shop | 10:05 | Your parcel is here\n"
    for found in (
        read("n.json", json.dumps(rows)),
        read("n.txt", lines),
        read("n.txt", lines.replace(" | ", "\t")),
    ):
        assert (found.kind, found.text) == (Kind.notifications, wanted)
        assert [message.app for message in found.messages] == ["Chat", "Mail"]
    [message] = read("n.txt", "10:01 Anna: Come!\n", Kind.notifications).messages
    assert (message.sender, message.text, message.time) == ("Anna", "Come!", "10:01")


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.json", b"{no", "not valid JSON"),
        ("a.json", b'{"a": 1}', "no messages"),
        ("a.json", b"[]", "no messages"),
        ("a.txt", b"ab\0cd", "binary"),
        ("a.md", "text and more".encode("utf-16-be"), "UTF-16"),
        ("a.html", b"\xff\xfea\0b", "UTF-16"),
        ("a.srt", b"\xff\xff", "UTF-8"),
        ("a.mbox", b"", "no mail"),
        ("a.zip", b"PK\x03\x04xx", "ZIP"),
    ],
)
def test_what_cannot_be_read_is_one_line(name: str, data: bytes, says: str) -> None:
    with pytest.raises(ReadError, match=says) as raised:
        document(name, data)
    assert "\n" not in str(raised.value)
    assert name in str(raised.value)


WRAPPED = (
    "The town library will close for eleven weeks from the third of March.\n"
    "The roof of the reading hall, which dates from 1926, lets in water at\n"
    "four places.\n"
)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_that_were_broken_at_a_width_are_joined(end: str) -> None:
    text = f"A title\n\n{WRAPPED}\n{WRAPPED}\n- one\n- two\n".replace("\n", end)
    line = " ".join(WRAPPED.split()) + "\n"
    wanted = f"A title\n\n{line}\n{line}\n- one\n- two\n"
    for name in ("a.txt", "a.md"):
        assert read(name, text).text.replace("\r\n", "\n") == wanted
    mail = read("a.eml", f"From: a@b.c\nSubject: Roof\n\n{WRAPPED}".replace("\n", end))
    assert line.strip() in mail.text


@pytest.mark.parametrize(
    "text",
    [
        "Roses are red, violets are blue, sugar is sweet,\nand so.\nAre you now?\nYes, I am, and so.\n",
        "Short lines\nof a note\nthat was jotted\ndown\n",
        "It is this long line of words here:\n- one item that has a good many words\n- another item of it\n",
        "Name: somebody with a very long name indeed\nPlace: somewhere far out in the wide country\n",
        "    def function(argument, another_argument):\n        return something_that_is_long(argument)\n",
    ],
)
def test_lines_that_were_meant_stay(text: str) -> None:
    assert read("a.txt", text, Kind.article).text == text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "The café closes."),
        ("a", "<!doctype html><meta charset='utf-16'><p>The café closes."),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nThe café closes.\n"),
        ("a.eml", "From: Anna <a@b.c>\nSubject: Café\n\nThe library closes.\n"),
        ("a.json", '[{"app": "Chat", "text": "The café closes."}]'),
    ],
)
def test_other_encodings_with_a_mark_are_the_same_text(name: str, text: str, encoding: str) -> None:
    found = document(name, text.encode(encoding))
    plain = document(name, text.replace("utf-16", "utf-8").encode())
    assert (found.text, found.kind, found.messages) == (plain.text, plain.kind, plain.messages)
    assert "closes." in found.text


def test_braces_do_not_make_a_text_json() -> None:
    assert read("a.txt", "[[draft]] The library closes.").text == "[[draft]] The library closes."


@pytest.mark.parametrize("suffix", sorted(SUFFIXES))
@settings(deadline=None, max_examples=50)
@given(data=st.binary(max_size=80) | st.text(alphabet='a:<>[]{}"#-> \n\r\t|1.', max_size=120).map(str.encode))
def test_no_bytes_break_a_reader(suffix: str, data: bytes) -> None:
    for kind in (None, Kind.chat, Kind.notifications):
        try:
            document(f"a{suffix}", data, kind)
        except ReadError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize("suffix", [".txt", ".md", ".html", ".srt", ".eml", ".mbox", ".json"])
@pytest.mark.parametrize("piece", ["[", "![", "<!--", "**a ", "a: b\n", "1", "|-", "# ", '{"a":', "](("])
def test_time_grows_with_the_size_of_a_file_and_no_faster(suffix: str, piece: str) -> None:
    began = time.process_time()
    try:
        document(f"a{suffix}", (piece * (20_000 // len(piece))).encode())
    except ReadError as error:
        assert "\n" not in str(error)
    assert time.process_time() - began < 2


def docx_bytes() -> bytes:
    docx = pytest.importorskip("docx")
    file = docx.Document()
    file.add_heading("The plan", 1)
    file.add_paragraph("It closes in March.")
    file.add_paragraph("one thing", style="List Bullet")
    table = file.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "a", "b"
    file.add_paragraph("It opens in May.")
    held = io.BytesIO()
    file.save(held)
    return held.getvalue()


def test_word_document() -> None:
    data = docx_bytes()
    wanted = "The plan\n\nIt closes in March.\n\n- one thing\n\na | b\n\nIt opens in May.\n"
    assert document("a.docx", data).text == wanted
    assert document("upload", data).text == wanted
    with pytest.raises(ReadError, match="cannot be read as a Word document"):
        document("a.docx", data[: len(data) // 2])


def pdf_bytes(*pages: str) -> bytes:
    """A PDF of one text object a page, written by hand."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids = []
    for page in pages:
        lines = "".join(f"({line}) Tj 0 -14 Td " for line in page.split("\n"))
        stream = f"BT /F1 12 Tf 72 720 Td {lines}ET" if page else ""
        number = len(objects) + 1
        kids.append(f"{number} 0 R")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Contents {number + 1} 0 R /Resources << /Font << /F1 "
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    out, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    return (
        f"{out}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n"
        f"<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    ).encode()


def test_pdf() -> None:
    pytest.importorskip("pypdf")
    pages = [
        f"Town news\nPage {n}\nThe roof of the li-\nbrary lets in water number {n}.\n"
        f"More of it\nfollows.\nend {n}"
        for n in range(4)
    ]
    found = document("a.pdf", pdf_bytes(*pages, ""))
    assert "The roof of the library lets in water number 2." in found.text
    assert "Town news" not in found.text
    assert "Page 1" not in found.text
    assert found.left_out == ("1 page without text",)
    with pytest.raises(ReadError, match="without text"):
        document("a.pdf", pdf_bytes("", ""))
    with pytest.raises(ReadError, match="cannot be read"):
        document("a.pdf", b"%PDF-1.7 x")


@pytest.mark.parametrize(("name", "module"), [("a.pdf", "pypdf"), ("a.docx", "docx")])
def test_missing_extra_says_what_to_install(name: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(ReadError, match=rf"pip install 'mtp-cli\[{name[2:]}\]'"):
        document(name, b"%PDF-1.7" if module == "pypdf" else b"PK\x03\x04")


def gather(*paths: Path, recursive: bool = True) -> tuple[list[Document], list[str]]:
    notes: list[str] = []
    found = read_documents(
        [str(path) for path in paths], kind=None, recursive=recursive, waiting=lambda: None, note=notes.append
    )
    return list(found), notes


def test_folders(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.txt").write_text("no")
    (tmp_path / "b" / "two.md").write_text("# Two\n")
    (tmp_path / "one.txt").write_text("One.\n")
    (tmp_path / "three.json").write_text("{")
    (tmp_path / "four.png").write_bytes(b"\x89PNG\0")
    found, notes = gather(tmp_path)
    assert [Path(item.name).name for item in found] == ["one.txt", "two.md"]
    [note] = notes
    assert "three.json is not valid JSON" in note
    with pytest.raises(UserError, match="--recursive"):
        gather(tmp_path, recursive=False)
    with pytest.raises(UserError, match="not valid JSON"):
        gather(tmp_path / "three.json")
    found, notes = gather(tmp_path / ".git" / "..", tmp_path / "one.txt")
    assert len(found) == 3
