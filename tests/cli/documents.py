"""Documents of every kind, made at random, with a note of what in them must come back; and a model that
mangles."""

from __future__ import annotations

import random
import zlib
from dataclasses import dataclass, field

from hypothesis import strategies as st

from cli.fake_engine import Script, last_text

WORDS = """teh the cat dogs goes go to a an is are their there not never Kim Paris Bremen dont its house reads
reading mesages two quick slowly because and or but likes which from new work works, day""".split()  # noqa: SIM905
ATOMS = [
    "42",
    "3.14 kg",
    "2024-05-01",
    "{name}",
    "%s",
    "$HOME",
    "kim@exmaple.org",
    "https://exmaple.com/teh?x=1",
]
MARKUP = {
    "text": ["`teh code`", "<b>", "</b>", "snake_teh"],
    "markdown": [
        "`teh code`",
        "[teh link](http://x.y/teh)",
        "![teh](i.png)",
        "**bold teh**",
        "<kbd>",
        "\\*",
        "*",
    ],
    "html": ["<b>teh</b>", "<code>teh code</code>", "&amp;", '<a href="teh.html">teh link</a>', "<br>"],
    "rst": ["``teh code``", ":ref:`teh role`", "`teh link <http://x.y/teh>`_", "**bold teh**", "|teh|"],
    "srt": ["<i>teh</i>", "{\\an8}", "♪"],
    "mail": ["`teh code`"],
    "comments": ["`teh code`", "snake_teh", "teh()"],
}
STAY = [
    *ATOMS,
    "`teh code`",
    "snake_teh",
    "](http://x.y/teh)",
    "![teh](i.png)",
    "<kbd>",
    "\\*",
    "**",
    "&amp;",
    '<a href="teh.html">',
    "<br>",
    ":ref:`teh role`",
    " <http://x.y/teh>`_",
    "|teh|",
    "<i>",
    "{\\an8}",
    "♪",
    "teh()",
]
END_MARKS = [".", ".", "!", "?", ""]


@dataclass
class Made:
    """A document, and the texts in it that must come back in order."""

    kind: str
    text: str = ""
    kept: list[str] = field(default_factory=list)

    def keep(self, text: str) -> None:
        """Add text that stays."""
        self.text += text
        if text.strip():
            self.kept.append(text)


class Maker:
    """Puts a document together from random choices."""

    def __init__(self, draw: random.Random, kind: str) -> None:
        self._draw = draw
        self.made = Made(kind)

    def sentence(self) -> str:
        """Some words, with atoms and markup among them."""
        words = [self._draw.choice(WORDS) for _ in range(self._draw.randint(2, 9))]
        for _ in range(self._draw.randint(0, 2)):
            words.insert(self._draw.randint(0, len(words)), self._draw.choice(ATOMS + MARKUP[self.made.kind]))
        return " ".join(words) + self._draw.choice(END_MARKS)

    def prose(self, wrap: str = "\n") -> str:
        """Sentences, sometimes with a line break between words."""
        text = " ".join(self.sentence() for _ in range(self._draw.randint(1, 3)))
        parts = text.split(" ")
        if len(parts) > 6 and self._draw.random() < 0.4 and wrap:
            at = self._draw.randint(2, len(parts) - 2)
            if parts[at][:1].isalpha():
                return " ".join(parts[:at]) + wrap + " ".join(parts[at:])
        return text

    def build(self, count: int) -> Made:
        """A document of `count` blocks."""
        forms = _FORMS[self.made.kind]
        for number in range(count):
            self._draw.choice(forms)(self, number)
        if self.made.kind == "comments":
            self.made.text = self.made.text or "x = 1\n"
        return self.made


def _paragraph(maker: Maker, number: int) -> None:
    maker.made.text += maker.prose() + "\n\n"


def _fence(maker: Maker, number: int) -> None:
    maker.made.keep("```\nteh code is\n```\n")
    maker.made.text += "\n"


def _items(maker: Maker, number: int) -> None:
    for at in range(3):
        maker.made.text += f"{at + 1}. " if number % 2 else "- "
        maker.made.text += maker.prose("") + "\n"
    maker.made.text += "\n"


def _table(maker: Maker, number: int) -> None:
    rows = [[maker.sentence() for _ in range(2)] for _ in range(3)]
    maker.made.text += "| " + " | ".join(rows[0]) + " |\n|---|:--|\n"
    maker.made.text += "".join("| " + " | ".join(row) + " |\n" for row in rows[1:]) + "\n"


def _heading(maker: Maker, number: int) -> None:
    maker.made.text += f"## {maker.sentence()}\n\n"


def _quote(maker: Maker, number: int) -> None:
    maker.made.text += f"> {maker.prose(chr(10) + '> ')}\n\n"


def _definition(maker: Maker, number: int) -> None:
    maker.made.keep(f'[r{number}]: http://x.y/teh "teh title"\n')
    maker.made.text += "\n"


def _mail_quote(maker: Maker, number: int) -> None:
    maker.made.keep(
        f"On Mon, 3 May 2024 at 10:0{number % 10}, Kim wrote:\n> teh quoted line are here\n> dont\n"
    )
    maker.made.text += "\n"


def _html_block(maker: Maker, number: int) -> None:
    tag = ("p", "div", "h2", "td", "li")[number % 5]
    maker.made.text += f'<{tag} title="teh">{maker.prose()}</{tag}>\n'


def _html_kept(maker: Maker, number: int) -> None:
    maker.made.keep(
        "<pre>\nteh code are\n</pre>\n<script>var teh = '<b>';</script>\n<!-- teh comment are -->\n"
    )


def _rst_title(maker: Maker, number: int) -> None:
    title = maker.sentence()
    maker.made.text += f"{title}\n{'=' * len(title)}\n\n"


def _rst_kept(maker: Maker, number: int) -> None:
    maker.made.keep(
        ".. code-block:: text\n\n   teh code are\n\n.. _teh target: http://x.y/teh\n\n"
        "====  ====\nteh   are\n====  ====\n1     teh\n====  ====\n\n"
    )


def _rst_note(maker: Maker, number: int) -> None:
    maker.made.text += f".. note:: {maker.prose(chr(10) + '   ')}\n\n:param teh: {maker.prose('')}\n\n"


def _cue(maker: Maker, number: int) -> None:
    maker.made.keep(f"{number + 1}\n00:00:0{number % 10},000 --> 00:00:0{number % 10},900\n")
    maker.made.text += maker.prose() + "\n\n"


def _code(maker: Maker, number: int) -> None:
    maker.made.keep(f'x{number} = "teh string are"\n')
    maker.made.text += f"# {maker.prose(chr(10) + '# ')}\n"
    maker.made.keep(f"def f{number}(teh): return teh\n")
    maker.made.text += f'"""{maker.prose(chr(10) + "    ")}\n"""\n'


_FORMS = {
    "text": [_paragraph, _fence, _items, _mail_quote, _heading],
    "markdown": [_paragraph, _fence, _items, _table, _heading, _quote, _definition],
    "html": [_html_block, _html_block, _html_kept],
    "rst": [_paragraph, _items, _rst_title, _rst_kept, _rst_note],
    "srt": [_cue],
    "mail": [_paragraph, _mail_quote, _items],
    "comments": [_code],
}


@st.composite
def documents(draw: st.DrawFn, kind: str) -> Made:
    """A document of that kind."""
    seed = draw(st.integers(0, 1 << 32))
    made = Maker(random.Random(seed), kind).build(draw(st.integers(1, 6)))
    if draw(st.booleans()):
        made.text = made.text.replace("\n", "\r\n")
        made.kept = [text.replace("\n", "\r\n") for text in made.kept]
    return made


FIXES = {"teh": "the", "dont": "doesn't", "mesages": "messages", "goes": "go", "reads": "read", "is": "are"}


def mangler(seed: int = 0) -> Script:
    """A model that corrects, and also does all that a small model does wrong; the same for the same text."""

    def answer(prompt: str) -> str:
        text = last_text(prompt)
        draw = random.Random(zlib.crc32(text.encode()) + seed)
        words = [_mangled(word, draw) for word in text.split(" ")]
        said = " ".join(word for word in words if word)
        way = draw.random()
        if way < 0.06:
            return f' Here is the corrected text: "{said}"'
        if way < 0.1:
            return " I'm sorry, but I cannot help with that."
        return " " + said

    return answer


def _mangled(word: str, draw: random.Random) -> str:
    way = draw.random()
    if way < 0.4:
        return FIXES.get(word.strip(".,!?"), word)
    if way < 0.5:
        return draw.choice(
            [word + ",", word + ".", "the " + word, word + "'s", word + ":", word + "::", word + "!"]
        )
    if way < 0.55:
        return draw.choice(
            ["", word.upper(), word.replace("e", "a"), word[1:], "not", "7", "* " + word, word + "\n"]
        )
    return word
