"""The verify-cost curve, or what lenient drafting buys, as a picture. Matplotlib: the extra `plot`."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SUFFIXES = (".png", ".svg")


class PlotError(Exception):
    """The picture cannot be made. The message is one line for a person."""


def check(path: Path) -> None:
    """Raise PlotError now rather than after minutes of measuring."""
    if path.suffix.lower() not in SUFFIXES:
        raise PlotError(f"--plot wants a file that ends in {' or '.join(SUFFIXES)}, not {path.name}")
    if not path.parent.is_dir():
        raise PlotError(f"--plot: there is no folder {path.parent}")
    if importlib.util.find_spec("matplotlib") is None:
        raise PlotError("--plot needs matplotlib: pip install 'mtp-cli[plot]'")


def _figure() -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _save(figure: Any, path: Path) -> None:
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise PlotError(f"cannot write {path}: {error.strerror or error}") from error


def cost_curve(report: Mapping[str, Any], path: Path) -> None:
    """Draw milliseconds over tokens a pass, one line an arm. Raises PlotError."""
    check(path)
    curves = {arm: curve for arm, curve in report["verify_cost_ms"].items() if curve}
    if not curves:
        raise PlotError("--plot: the verify cost was not measured")
    figure = _figure()
    axes = figure.add_subplot()
    for arm, curve in curves.items():
        points = sorted((int(width), ms) for width, ms in curve.items())
        axes.plot([w for w, _ in points], [ms for _, ms in points], marker="o", label=arm)
    axes.set_xlabel("tokens in one pass")
    axes.set_ylabel("milliseconds (median)")
    model, settings = report["model"], report["settings"]
    axes.set_title(f"Cost of a pass: {model.get('file', '')}, {settings.get('threads', '?')} threads")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    _save(figure, path)


def lenient_curve(report: Mapping[str, Any], path: Path) -> None:
    """Draw speed to plain, and distance from the exact text, over alpha; alpha 0 is exact drafting.

    Raises PlotError."""
    check(path)
    found = report.get("lenient") or {"rows": []}
    rows = [row for row in found["rows"] if row["ratio_to_plain"] and row["edits_per_100_tokens"] is not None]
    if not rows:
        raise PlotError("--plot: lenient drafting was not measured")
    alphas = [row["alpha"] or 0.0 for row in rows]
    figure = _figure()
    speed = figure.add_subplot()
    distance = speed.twinx()
    lines = speed.plot(
        alphas,
        [row["ratio_to_plain"]["ratio"] for row in rows],
        marker="o",
        label="decode speed to plain",
    )
    lines += distance.plot(
        alphas,
        [row["edits_per_100_tokens"] for row in rows],
        marker="s",
        linestyle="--",
        color="tab:red",
        label="edits per 100 tokens",
    )
    speed.set_xlabel("alpha (0: exact drafting)")
    speed.set_ylabel("decode speed to plain")
    distance.set_ylabel("edits per 100 tokens")
    distance.set_ylim(bottom=0)
    speed.grid(alpha=0.3)
    speed.legend(lines, [line.get_label() for line in lines], loc="upper left")
    settings = report["settings"]
    speed.set_title(
        f"Lenient drafting, {found['rule']}: {report['model'].get('file', '')}, {settings['task']}"
    )
    _save(figure, path)


def learning_curve(curve: Sequence[Mapping[str, float]], path: Path) -> None:
    """Draw tokens per pass on held-out answers over visited positions. Raises PlotError."""
    check(path)
    tasks = sorted({key for point in curve for key in point if key.startswith("held_out.")})
    if not tasks:
        raise PlotError("--plot: nothing was measured on held-out answers yet")
    figure = _figure()
    axes = figure.add_subplot()
    for task in tasks:
        points = [(point["visits"], point[task]) for point in curve if task in point]
        axes.plot(
            [visits for visits, _ in points],
            [value for _, value in points],
            marker="o",
            label=task.removeprefix("held_out."),
        )
    axes.set_xscale("symlog", linthresh=10_000)
    axes.set_xlabel("positions visited in training")
    axes.set_ylabel("tokens per pass, 3 drafted")
    axes.set_title("Learning curve of a draft head on held-out answers")
    axes.grid(alpha=0.3)
    axes.legend()
    _save(figure, path)
