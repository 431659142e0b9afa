"""Known models, and the way from a model's name to a verified file on disk.

    resolved = catalog.resolve(reference, offline=False, report=view)   # raises ModelError (exit code 3)
    resolved.path, resolved.entry                                       # entry.kind, entry.prompts, ...

Nothing here prints: a pull tells its `report` callable what goes on (see report.py).
"""

from __future__ import annotations

from mtp_cli.catalog.cache import cache_dir
from mtp_cli.catalog.entry import Entry, default_entry, entry_for_file, load_catalog, models_dir
from mtp_cli.catalog.errors import EXIT_CODE, ModelError, size_text
from mtp_cli.catalog.report import PullDone, PullEvent, PullProgress, PullStart, Report
from mtp_cli.catalog.resolve import Resolved, find_entry, is_intact, is_offline, model_path, resolve

__all__ = [
    "EXIT_CODE",
    "Entry",
    "ModelError",
    "PullDone",
    "PullEvent",
    "PullProgress",
    "PullStart",
    "Report",
    "Resolved",
    "cache_dir",
    "default_entry",
    "entry_for_file",
    "find_entry",
    "is_intact",
    "is_offline",
    "load_catalog",
    "model_path",
    "models_dir",
    "resolve",
    "size_text",
]
