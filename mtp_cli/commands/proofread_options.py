"""The options that only `mtp proofread` has, and what they mean together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated

import typer

from mtp_cli.commands.options import Colour
from mtp_cli.exits import UserError


class ProofFormat(str, Enum):
    """Form of the result."""

    text = "text"
    json = "json"
    jsonl = "jsonl"
    sarif = "sarif"


class Dialect(str, Enum):
    """Which English."""

    us = "us"
    gb = "gb"


class Answers(str, Enum):
    """When the model writes a sentence anew."""

    auto = "auto"
    always = "always"
    never = "never"


class Kind(str, Enum):
    """How a text is built; see tasks/documents/kinds.py."""

    auto = "auto"
    text = "text"
    markdown = "markdown"
    html = "html"
    rst = "rst"
    srt = "srt"
    mail = "mail"


DiffOption = Annotated[
    bool, typer.Option("--diff", help="Print a unified diff instead of the text.", show_default=False)
]
WordDiffOption = Annotated[
    bool,
    typer.Option("--word-diff", help="Print the lines that change, word by word.", show_default=False),
]
WriteOption = Annotated[
    bool, typer.Option("--write", "-w", help="Correct the files in place.", show_default=False)
]
BackupOption = Annotated[
    bool, typer.Option("--backup", help="With -w: keep the old file as FILE.bak.", show_default=False)
]
CheckOption = Annotated[
    bool,
    typer.Option(
        "--check", help="Change nothing; list what would change and exit with 1.", show_default=False
    ),
]
InteractiveOption = Annotated[
    bool,
    typer.Option("--interactive", "-i", help="Ask about each edit: y, n, a, q.", show_default=False),
]
UnsafeOption = Annotated[bool, typer.Option("--unsafe", help="Apply unsafe edits too.", show_default=False)]
KeepOption = Annotated[
    list[str] | None,
    typer.Option(
        "--keep", metavar="TERM", help="A term that stays as it is; may come again.", show_default=False
    ),
]
DialectOption = Annotated[
    Dialect | None,
    typer.Option(
        "--dialect",
        help="The English that spellings may be changed to; without it each stays as it is.",
        show_default=False,
    ),
]
TypeOption = Annotated[
    Kind, typer.Option("--type", help="How the text is built; auto: by the name of the file.")
]
CommentsOption = Annotated[
    bool,
    typer.Option(
        "--comments", help="Source code: proofread its comments and docstrings.", show_default=False
    ),
]
JudgeOption = Annotated[
    bool,
    typer.Option(
        "--judge/--no-judge",
        help="The model judges each edit by how much likelier it makes the sentence, and looks for more; "
        "without it only its answers count, as they come.",
    ),
]
AnswersOption = Annotated[
    Answers,
    typer.Option(
        "--answers",
        help="When the model writes a sentence anew, which takes longest; auto: in languages other than "
        "English.",
    ),
]
HelpersOption = Annotated[
    str,
    typer.Option(
        "--helpers",
        metavar="auto|off|NAME,...",
        help="Who else proposes edits to judge: harper, dictionary (extra proof); auto: those installed.",
    ),
]
ProofFormatOption = Annotated[ProofFormat, typer.Option("--format", help="Form of the result.")]
ProofColourOption = Annotated[Colour, typer.Option("--color", help="Colours on stderr and in diffs.")]


def helper_names(value: str) -> tuple[str, ...]:
    """--helpers as names. Raises UserError for one that is not known or not installed."""
    from importlib.util import find_spec

    packages = {"harper": "harper", "dictionary": "spellchecker"}
    if value == "off":
        return ()
    if value == "auto":
        return tuple(packages)
    names = tuple(name.strip() for name in value.split(",") if name.strip())
    for name in names:
        if name not in packages:
            raise UserError(f"--helpers: there is no {name!r}; known are {', '.join(packages)}, auto and off")
        if find_spec(packages[name]) is None:
            raise UserError(f"--helpers {name}: its package is not installed; pip install 'mtp-cli[proof]'")
    return names


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be done with the corrections."""

    form: ProofFormat
    diff: bool
    word_diff: bool
    write: bool
    backup: bool
    check: bool
    interactive: bool
    kind: Kind
    comments: bool

    @property
    def shows_text(self) -> bool:
        """True when the corrected text is the result on stdout."""
        other = self.diff or self.word_diff or self.write or self.check
        return self.form is ProofFormat.text and not other

    @property
    def flows(self) -> bool:
        """True when it can be shown as it comes."""
        return self.shows_text and not self.interactive

    def verify(self, *, output: bool, files: list[str]) -> None:
        """Raise UserError for options that do not go together."""
        shown = [
            name
            for name, on in (
                ("--diff", self.diff),
                ("--word-diff", self.word_diff),
                (f"--format {self.form.value}", self.form is not ProofFormat.text),
            )
            if on
        ]
        if len(shown) > 1:
            raise UserError(f"{shown[0]} and {shown[1]} do not go together; choose one")
        if self.check and (self.write or self.interactive):
            raise UserError("--check changes nothing; leave out -w and -i, or --check")
        if self.write and (self.diff or self.word_diff):
            raise UserError("-w writes the files and a diff only shows; choose one")
        if self.write and output:
            raise UserError("-w writes the files themselves and -o another one; choose one")
        if self.write and (not files or "-" in files):
            raise UserError("-w needs files to write to; name them")
        if self.backup and not self.write:
            raise UserError("--backup goes with -w")
        if self.interactive and (not files or "-" in files):
            raise UserError("-i asks on standard input; name the files to proofread")
