"""Keep the --help texts in README.md as the program prints them.

    python .ci/help.py           # write them between the markers
    python .ci/help.py --check   # only tell: exit code 1 when one differs

A marker names the command line; what stands up to the next end marker is replaced:
    <!-- help: mtp summarize -->
    <!-- end of help -->"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
_BLOCK = re.compile(r"(<!-- help: mtp ?(?P<command>[a-z ]*) -->\n).*?(<!-- end of help -->)", re.DOTALL)


def help_of(command: str) -> str:
    """What `mtp COMMAND --help` prints, 80 columns wide."""
    from mtp_cli import app

    held = {name: os.environ.get(name) for name in ("COLUMNS", "MTP_CONFIG")}
    os.environ |= {"COLUMNS": "80", "MTP_CONFIG": ""}
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            app.run([*command.split(), "--help"])
    finally:
        for name, value in held.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def renewed(text: str) -> str:
    """`text` with every help block as it should be."""
    return _BLOCK.sub(lambda found: f"{found[1]}```text\n{help_of(found['command'])}\n```\n{found[3]}", text)


def main() -> int:
    """The exit code."""
    old = README.read_text(encoding="utf-8")
    new = renewed(old)
    if "--check" in sys.argv[1:]:
        if new != old:
            print("README.md: help texts differ; run python .ci/help.py", file=sys.stderr)
        return int(new != old)
    README.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
