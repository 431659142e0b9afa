"""The options that only `mtp summarize` has."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from mtp_cli.commands.options import Format
from mtp_cli.readers.document import Kind
from mtp_cli.tasks.summary_wish import Length, Overflow, Style, Wish, parse_length
from mtp_cli.tasks.text_language import NAMES


class SummaryFormat(str, Enum):
    """Form of the result."""

    text = "text"
    markdown = "markdown"
    json = "json"
    jsonl = "jsonl"

    @property
    def general(self) -> Format:
        """What it is for the parts that all text commands share."""
        return Format.json if self is SummaryFormat.json else Format.text


def _length(value: str | Length) -> Length:
    if isinstance(value, Length):
        return value
    try:
        return parse_length(value)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _language(value: str) -> str:
    code = value.strip().lower()
    if code != "auto" and code not in NAMES:
        raise typer.BadParameter(f"unknown language '{value}'; there are auto, {', '.join(NAMES)}")
    return code


SourcesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FILE]...",
        help="Text, Markdown, HTML, .srt, .vtt, .eml, .mbox, .json, .docx and .pdf (extras docx, pdf); - is "
        "standard input.",
        show_default=False,
    ),
]
StyleOption = Annotated[
    Style | None,
    typer.Option(
        "--style",
        envvar="MTP_STYLE",
        help="Form of a summary. Default: paragraph; for notifications, notification.",
        show_default=False,
    ),
]
LengthOption = Annotated[
    Length,
    typer.Option(
        "--length",
        envvar="MTP_LENGTH",
        parser=_length,
        metavar="short|medium|long|N",
        help="N: words, met within a quarter.",
    ),
]
InputOption = Annotated[
    Kind | None,
    typer.Option("--input", help="What the text is. Default: guessed.", show_default=False),
]
LangOption = Annotated[
    str,
    typer.Option(
        "--lang",
        envvar="MTP_LANG",
        callback=_language,
        metavar="auto|CODE",
        help="Language of the summary, as far as the model knows it; auto: that of the text.",
    ),
]
SummaryFormatOption = Annotated[
    SummaryFormat,
    typer.Option(
        "--format",
        envvar="MTP_FORMAT",
        help="Form of the result; jsonl: a line for each part of a long text as it is done, and for each "
        "summary.",
    ),
]
PerFileOption = Annotated[bool, typer.Option("--per-file", help="A summary for each file, not one of all.")]
RecursiveOption = Annotated[
    bool, typer.Option("--recursive", "-r", help="Read folders: all files of a known kind in them.")
]
OverflowOption = Annotated[
    Overflow,
    typer.Option(
        "--on-overflow",
        envvar="MTP_ON_OVERFLOW",
        help="A text longer than the context: read it in parts, end with exit code 4, or read its beginning.",
    ),
]
ResumeOption = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="FILE",
        help="Keep finished parts of long texts there (JSON lines), and take those that are there already.",
    ),
]


@dataclass(frozen=True, slots=True)
class SummaryOptions:
    """What of these the work needs."""

    style: Style | None
    length: Length
    kind: Kind | None
    language: str
    form: SummaryFormat | None
    per_file: bool
    recursive: bool
    overflow: Overflow
    resume: Path | None

    def wish(self, kind: Kind) -> Wish:
        """For a text of that kind."""
        usual = Style.notification if kind is Kind.notifications else Style.paragraph
        language = "" if self.language == "auto" else self.language
        return Wish(self.style or usual, self.length, kind, language, self.overflow)
