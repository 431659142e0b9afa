"""A benchmark's report as text, Markdown, CSV or JSON, and its progress line on stderr. Computes nothing."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from mtp_cli.view import bench_drafting, bench_energy, bench_screening, bench_sustained
from mtp_cli.view.bench_cells import (
    UNAVAILABLE,
    Report,
    Table,
    count,
    csv_cell,
    csv_ratio,
    number,
    ratio_text,
)
from mtp_cli.view.tables import write_fields, write_table

FORMATS = ("text", "json", "csv", "markdown")


class Progress:
    """What is going on, on stderr: one line redrawn on a terminal, every line kept with `verbose`."""

    def __init__(self, *, verbose: bool = False, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._verbose = verbose
        self._live = not verbose and not quiet and self._stream.isatty()
        self._drawn = False

    def __call__(self, text: str) -> None:
        if self._verbose:
            self._stream.write(f"mtp: {text}\n")
        elif self._live:
            self._stream.write(f"\r\x1b[K{text[: self._columns()]}")
            self._drawn = True
        self._stream.flush()

    @staticmethod
    def _columns() -> int:
        import shutil

        return max(shutil.get_terminal_size().columns - 1, 20)

    def clear(self) -> None:
        """Take the live line away, before anything else is printed."""
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._drawn = False


def render(report: Report, form: str, *, verbose: bool = False) -> str:
    """The report in one of FORMATS, ending in a newline. `verbose`: also what passes read."""
    if form == "json":
        return json.dumps(report, indent=2, ensure_ascii=False) + "\n"
    if form == "csv":
        return _csv(report)
    return _markdown(report, verbose) if form == "markdown" else _text(report, verbose)


def _middle(found: Mapping[str, Any] | None, digits: int = 1) -> str:
    return UNAVAILABLE if not found else number(found["median"], digits)


def _same(arm: Mapping[str, Any]) -> str:
    if arm["same_as_plain"] is None:
        return UNAVAILABLE
    return f"{arm['same_as_plain']} of {arm['compared_with_plain']}"


def measures(report: Report) -> Table:
    """One row a measure, one column an arm, and one with the ratios of plain (else of the first arm that is
    not the reference). The other arms' decode ratios stand in the table about drafting."""
    arms: Sequence[Mapping[str, Any]] = report["arms"]
    compared = [arm for arm in arms if arm["ratio_to_reference"]]
    compared = ([arm for arm in compared if arm["name"] == "plain"] or compared)[:1]
    length = report["settings"].get("long_prefill_tokens") or 512
    lines: list[tuple[str, list[str], str | None]] = [
        ("prefill, tok/s", [number(arm["prefill_tok_s"]) for arm in arms], "prefill"),
        (f"prefill of {length}, tok/s", [_middle(arm["prefill_512_tok_s"]) for arm in arms], "prefill_512"),
        ("decode, tok/s", [number(arm["decode_tok_s"]) for arm in arms], "decode"),
        ("prefill and decode of all prompts, s", [number(arm["total_s"]) for arm in arms], "total_time"),
        ("first token, ms from prompt", [number(arm["ttft_ms"]) for arm in arms], None),
        (
            "first token, ms from process start",
            [_middle(arm["ttft_process_ms"]) for arm in arms],
            "ttft_process",
        ),
        ("peak memory, MB", [number(arm["peak_rss_mb"]) for arm in arms], None),
        ("generated tokens", [count(arm["generated_tokens"]) for arm in arms], None),
        ("backbone passes", [count(arm["passes"]) for arm in arms], None),
        ("same token ids as plain", [_same(arm) for arm in arms], None),
    ]
    header = ["", *(arm["name"] for arm in arms), *(f"{arm['name']} to reference" for arm in compared)]
    rows = []
    for title, cells, key in lines:
        extra = [ratio_text(arm["ratio_to_reference"].get(key)) if key else "" for arm in compared]
        rows.append([title, *cells, *extra])
    return header, rows


def costs(report: Report) -> Table | None:
    """The verify-cost curve: median and least milliseconds of a pass over k tokens. None if not measured."""
    curves = {arm: curve for arm, curve in report["verify_cost_ms"].items() if curve}
    least = report["verify_cost_min_ms"]
    widths = sorted({int(width) for curve in curves.values() for width in curve})
    if not widths:
        return None
    header = ["tokens a pass", *(f"{arm}, ms (least)" for arm in curves)]
    rows = []
    for width in map(str, widths):
        cells = [
            f"{number(curves[arm][width])} ({number(least[arm][width])})"
            if width in curves[arm]
            else UNAVAILABLE
            for arm in curves
        ]
        rows.append([width, *cells])
    return header, rows


def _heading(report: Report) -> list[tuple[str, str]]:
    machine, model, settings = report["machine"], report["model"], report["settings"]
    load = machine.get("load_average")
    size = model.get("file_bytes")
    parts = [model.get("architecture"), f"{size / 1e6:.1f} MB" if size else None]
    fields = [
        ("model", ", ".join([str(model.get("file") or UNAVAILABLE), *(str(part) for part in parts if part)])),
        ("machine", f"{machine.get('cpu') or UNAVAILABLE}, {machine.get('cores') or UNAVAILABLE} cores"),
        ("kernel", str(model.get("kernel") or UNAVAILABLE)),
        ("load average", " ".join(map(str, load)) if load else UNAVAILABLE),
        ("governor", str(machine.get("governor") or UNAVAILABLE)),
        ("threads", str(settings.get("threads") or UNAVAILABLE)),
    ]
    if not settings.get("sustained_minutes"):
        fields.append(("runs", str(settings.get("runs") or UNAVAILABLE)))
    if settings.get("task"):
        fields.append(("task", f"{settings['task']}, at most {settings.get('max_tokens')} tokens"))
    if settings.get("temperature"):
        fields.append(("sampling", f"temperature {settings['temperature']:g}, seed {settings['seed']}"))
    return fields


def _tables(report: Report, verbose: bool) -> list[Table]:
    if "startup" in report:
        found = [startup(report)]
    elif "sustained" in report:
        found = [bench_sustained.sustained(report), bench_energy.energy(report)]
    else:
        about_drafts = [
            bench_drafting.drafting(report),
            bench_drafting.heads(report),
            bench_drafting.positions(report),
        ]
        if report.get("lenient"):
            about_drafts = [bench_drafting.lenient(report)]
        found = [measures(report), *about_drafts, bench_energy.energy(report), costs(report)]
        if verbose:
            found.append(bench_screening.screening(report))
    return [table for table in found if table is not None]


def _text(report: Report, verbose: bool) -> str:
    out = io.StringIO()
    out.write("".join(f"WARNING: {line}\n" for line in report["not_exact"]))
    write_fields(out, _heading(report))
    for header, rows in _tables(report, verbose):
        out.write("\n")
        write_table(out, header, rows, right=range(1, len(header)))
    lines = _remarks(report)
    if lines:
        out.write("\n" + "".join(f"{line}\n" for line in lines))
    return out.getvalue()


def _remarks(report: Report) -> list[str]:
    found = bench_drafting.remarks(report) + bench_energy.remarks(report) + bench_sustained.remarks(report)
    return found + [f"note: {note}" for note in _notes(report)]


def _notes(report: Report) -> list[str]:
    head = [] if report["complete"] else ["interrupted: this is what was measured up to then"]
    return head + list(report["notes"])


def _markdown(report: Report, verbose: bool) -> str:
    out = io.StringIO()
    out.write("".join(f"**WARNING: {line}**\n\n" for line in report["not_exact"]))
    out.write("".join(f"- {name}: {value}\n" for name, value in _heading(report)))
    for header, rows in _tables(report, verbose):
        out.write("\n" + _pipe(header) + _pipe(["---", *["---:" for _ in header[1:]]]))
        out.write("".join(map(_pipe, rows)))
    lines = _remarks(report)
    if lines:
        out.write("\n" + "".join(f"- {line}\n" for line in lines))
    return out.getvalue()


def _pipe(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _csv(report: Report) -> str:
    """arm, measure, value, low, high: low and high are the 95 % interval of a ratio, else the spread."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(["arm", "measure", "value", "low", "high"])
    for arm in report["arms"]:
        name = arm["name"]
        spreads = arm["spread"]
        for key in ("prompts", "generated_tokens", "passes", "prefill_tok_s", "decode_tok_s", "ttft_ms"):
            found = spreads.get(key) or {}
            write([name, key, csv_cell(arm[key]), csv_cell(found.get("min")), csv_cell(found.get("max"))])
        for key in ("ttft_process_ms", "prefill_512_tok_s"):
            found = arm[key] or {}
            write([name, key, *(csv_cell(found.get(part)) for part in ("median", "min", "max"))])
        for key in ("peak_rss_mb", "same_as_plain"):
            write([name, key, csv_cell(arm[key]), "", ""])
        for key, found in (arm["ratio_to_reference"] or {}).items():
            write([name, f"ratio_to_reference.{key}", *csv_ratio(found)])
        for row in bench_drafting.csv_arm(arm):
            write(row)
    parts = (bench_drafting.csv_whole, bench_energy.csv_rows, bench_screening.csv_rows)
    for row in (row for part in parts for row in part(report)):
        write(row)
    for arm, curve in report["verify_cost_ms"].items():
        for width, ms in curve.items():
            least = report["verify_cost_min_ms"][arm].get(width)
            write([arm, f"verify_cost_ms.{width}", csv_cell(ms), csv_cell(least), ""])
    for row in bench_sustained.csv_rows(report):
        write(row)
    for name, found in _startup_parts(report):
        write([name, "startup_ms", *(csv_cell(found.get(part)) for part in ("median", "min", "max"))])
    if "startup" in report and report["startup"]["time_ratio"]:
        write(["mtp", "startup.time_ratio", *csv_ratio(report["startup"]["time_ratio"])])
    return out.getvalue()


def _startup_parts(report: Report) -> list[tuple[str, Mapping[str, Any]]]:
    if "startup" not in report:
        return []
    return [(name, report["startup"][f"{name}_ms"] or {}) for name in ("mtp", "reference")]


def startup(report: Report) -> Table | None:
    """Whole-process times of `mtp bench --startup`; None in any other report."""
    if "startup" not in report:
        return None
    rows = [
        [name, *(number(found.get(part), 0) for part in ("median", "min", "max")), ""]
        for name, found in _startup_parts(report)
    ]
    found = report["startup"]["time_ratio"]
    interval = (found or {}).get("ci95")
    text = number(found["ratio"], 2) if found else UNAVAILABLE
    rows[0][-1] = f"{text} [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else text
    return ["whole process, ms", "median", "least", "most", "time to reference"], rows
