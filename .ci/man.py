"""Keep the man page mtp_cli/mtp.1 as the program's --help texts say.

python .ci/man.py           # write it
python .ci/man.py --check   # only tell: exit code 1 when it differs
man -l mtp_cli/mtp.1           # look at it"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "mtp_cli" / "mtp.1"
EXAMPLES = (
    ("mtp summarize report.txt", "a short summary"),
    ("mtp summarize --style bullets --length 80 minutes.docx", "a list of about 80 words"),
    ("mtp summarize --resume parts.jsonl book.txt", "a long text; the same command goes on after Ctrl-C"),
    ("mtp proofread --diff docs/*.md", "what would change"),
    ("mtp proofread -w letter.txt", "correct the file in place"),
    ("echo 'he go to school' | mtp proofread", "from a pipe"),
)
FILES = (
    ("~/.config/mtp/config.toml", "The person's settings; MTP_CONFIG names another file."),
    ("pyproject.toml", "The settings of a project, in [tool.mtp]."),
    ("~/.cache/mtp", "Fetched models; MTP_CACHE_DIR names another folder."),
)


def page() -> str:
    """The man page."""
    import typer

    from mtp_cli import __version__, app
    from mtp_cli.commands.config import VARIABLES
    from mtp_cli.exits import ExitStatus

    program: Any = typer.main.get_command(app.build([]))
    about, *more = paragraphs(program.help)
    lines = [
        '.\\" Made by .ci/man.py from the --help texts.',
        f'.TH MTP 1 "" "mtp {__version__}" "User Commands"',
        ".SH NAME",
        f"mtp \\- {roff(about[0].lower() + about[1:].rstrip('.'))}",
        ".SH SYNOPSIS",
        *(f".B mtp {roff(name)}\n{roff(usage)}\n.br" for name, usage in synopses(program)),
        ".SH DESCRIPTION",
        "The result goes to standard output; messages, progress and timing go to standard error.",
        *(f".PP\n{roff(text)}" for text in more if not text.startswith("Exit codes")),
        ".SH COMMANDS",
    ]
    for name, command in leaves(program):
        lines += [f".SS mtp {roff(name)}", *described(command)]
    lines += [".SH EXIT STATUS", *rows((str(int(code)), EXIT_CODES[code.name]) for code in ExitStatus)]
    lines += [".SH ENVIRONMENT", *rows(variables(VARIABLES))]
    lines += [".SH FILES", *rows(FILES)]
    lines += [".SH EXAMPLES", *rows(EXAMPLES)]
    return "\n".join(lines) + "\n"


EXIT_CODES = {
    "OK": "Fine.",
    "FOUND": "A check found something.",
    "ERROR": "Wrong use, or an error.",
    "MODEL": "The model is missing, damaged or not supported.",
    "TOO_LONG": "The text is too long, and that was to be an error.",
    "INTERRUPTED": "Interrupted.",
}


def leaves(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, command) for all that do something themselves, in the order of the help text."""
    for name, child in command.commands.items():
        if getattr(child, "commands", None):
            yield from leaves(child, f"{path}{name} ")
        else:
            yield f"{path}{name}", child


def synopses(program: Any) -> Iterator[tuple[str, str]]:
    for name, command in leaves(program):
        yield name, " ".join(command.collect_usage_pieces(context(command)))


def described(command: Any) -> Iterator[str]:
    """What a command does, its arguments and its options."""
    for at, text in enumerate(paragraphs(command.help)):
        yield f"{'.PP' * bool(at)}\n{roff(text)}".strip()
    ctx = context(command)
    records = [param.get_help_record(ctx) for param in command.get_params(ctx)]
    yield from rows(record for record in records if record is not None)


def context(command: Any) -> Any:
    return command.context_class(command, info_name=command.name)


def variables(known: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, what in known.items():
        yield name, what[0].upper() + what[1:] + "."
    yield "NO_COLOR", "No colours."


def rows(pairs: Any) -> Iterator[str]:
    for name, text in pairs:
        yield f".TP\n.B {roff(name)}\n{roff(' '.join(str(text).split()))}"


def paragraphs(text: str | None) -> list[str]:
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", (text or "").strip())]


def roff(text: str) -> str:
    """`text` so that nothing in it is a command of the formatter."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain[:1] in (".", "'") else plain


def main() -> int:
    """The exit code."""
    new = page()
    if "--check" in sys.argv[1:]:
        same = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == new
        if not same:
            print("mtp_cli/mtp.1 differs from the program; run python .ci/man.py", file=sys.stderr)
        return int(not same)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
