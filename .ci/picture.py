"""Draw README's picture: two commands and what they print, as an SVG. Run from the clone after installing.

.venv/bin/python .ci/picture.py mtp_cli/view/terminal.svg
"""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

SENTENCE = "I has recieved you're letter yesterday and I was happy."
MTP = str(Path(sys.executable).with_name("mtp"))


def main(target: Path) -> None:
    console = Console(record=True, width=92, file=io.StringIO(), force_terminal=True)
    for shown, command, text in (
        (f'echo "{SENTENCE}" | mtp proofread -v', [MTP, "proofread", "-v"], SENTENCE + "\n"),
        ("mtp models list", [MTP, "models", "list"], ""),
    ):
        console.print(Text("$ ", style="green") + Text(shown, style="bold"))
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        console.print(Text(done.stdout.rstrip("\n")))
        if done.stderr:
            console.print(Text(done.stderr.rstrip("\n"), style="dim"))
        console.print()
    target.write_text(console.export_svg(title="mtp"), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
