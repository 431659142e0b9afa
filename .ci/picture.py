"""Draw README's pictures: commands and what they print, as SVGs. Run from the clone after installing.

.venv/bin/python .ci/picture.py        # writes mtp_cli/view/pictures/
"""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 96
ARTICLE = """\
The town library will close for eleven weeks from the third of March. The
roof of the reading hall, which dates from 1926, lets in water at four
places. The council had planned to repair only the roof, but an inspection
found that the wiring no longer meets the rules. Both jobs will now be done
at once, which raises the bill to 415,000.

Readers may keep what they have borrowed until the end of May. A van with
new books will stop at the market on Tuesdays and Fridays. The children's
hour moves to the school in Mill Lane, where forty seats are free.
"""
CHAT = """\
[10:02] Anna: Are you coming to the concert on Friday?
[10:05] Ben: I have to work until seven.
[10:06] Anna: It begins at eight, in the town hall. My sister sings.
[10:07] Ben: Then I will come.
"""
LETTER = """\
I has recieved you're letter yesterday and I was happy.
The meeting are on tuesday, see `meeting.ics`.
"""
FILES = {"library.txt": ARTICLE, "chat.txt": CHAT, "letter.txt": LETTER}
PICTURES = {
    "summarize": (
        "mtp summarize --length short -v library.txt",
        "mtp summarize --style bullets --length 40 library.txt",
        "mtp summarize chat.txt",
    ),
    "proofread": (
        "mtp proofread -v letter.txt",
        "mtp proofread --word-diff --color always letter.txt",
        "mtp proofread --check letter.txt",
    ),
}


def main() -> None:
    for name, commands in PICTURES.items():
        target = ROOT / "mtp_cli" / "view" / "pictures" / f"{name}.svg"
        target.write_text(picture(commands), encoding="utf-8")


def picture(commands: tuple[str, ...]) -> str:
    """The SVG of a terminal in which `commands` were run."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        for command in commands:
            console.print(
                Text("$ ", style="green") + Text(command.replace(" --color always", ""), style="bold")
            )
            done = subprocess.run(
                [sys.executable, "-m", *shlex.split(command.replace("mtp", "mtp_cli", 1))],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(ROOT), "MTP_CONFIG": ""},
                capture_output=True,
                text=True,
                check=False,
            )
            console.print(Text.from_ansi(done.stdout.rstrip("\n")))
            if done.stderr:
                console.print(Text(done.stderr.rstrip("\n"), style="dim"))
            console.print()
    return console.export_svg(title="mtp")


if __name__ == "__main__":
    main()
