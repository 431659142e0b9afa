"""Finished parts of a summary in a JSON-lines file, so that a run that was interrupted can go on."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from mtp_cli.exits import UserError


class PartsFile:
    """Answers by their key. A key names everything that an answer depends on, so that parts of another text,
    model or setting are never taken for those of this one."""

    def __init__(self, path: Path) -> None:
        """Raises UserError for a file that cannot be read, or that holds something else."""
        self._path = path
        self._answers: dict[str, str] = {}
        self.written = 0
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise UserError(
                f"--resume {path}: that is no place for a file; name a file in a folder that exists"
            )
        try:
            data = path.read_bytes() if path.exists() else b""
        except OSError as error:
            raise UserError(f"--resume {path}: {(error.strerror or str(error)).lower()}") from None
        lines = data.split(b"\n")
        # a run that was killed while it wrote leaves half a line: that one is written again
        self._torn = len(lines[-1]) if lines[-1].startswith(b"{") and not self._take(lines[-1]) else 0
        self._open_end = bool(lines[-1]) and not self._torn
        for number, line in enumerate(lines[: -1 if self._torn else None], 1):
            if line.strip() and not self._take(line):
                raise UserError(f"--resume {path}: line {number} is not JSON; this is no file of mtp's")

    def _take(self, line: bytes) -> bool:
        try:
            record = json.loads(line)
        except ValueError:
            return False
        if isinstance(record, dict) and isinstance(record.get("key"), str):
            said = record.get("sentences")
            if isinstance(said, list):
                self._answers[record["key"]] = "\n".join(map(str, said))
        return isinstance(record, dict)

    def get(self, key: str) -> str | None:
        """The sentences of that answer, one a line."""
        return self._answers.get(key)

    def add(self, record: dict[str, Any]) -> None:
        """Append one finished part; it is on the disk when this returns. Raises UserError."""
        line = json.dumps(record, ensure_ascii=False).encode("utf-8", "replace")
        try:
            with self._path.open("ab") as file:
                if self._torn:
                    file.truncate(file.tell() - self._torn)
                file.write(b"\n" * self._open_end + line + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UserError(f"--resume {self._path}: {(error.strerror or str(error)).lower()}") from None
        self._torn, self._open_end = 0, False
        self.written += 1
