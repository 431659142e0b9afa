"""The timing block of -v."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mtp_cli.meters import Reading
from mtp_cli.meters.drafts import DecodeCounts

if TYPE_CHECKING:
    from mtp_cli.meters.energy import Energy
from mtp_cli.meters.time import RunMeter

_LABEL_WIDTH = 22
_NONE = "unavailable"


def timing_block(
    meter: RunMeter, total_seconds: float, peak: Reading, energy: Energy | None, *, lenient: bool = False
) -> str:
    """Lines as `ollama --verbose` prints them, and between and below them what it does not tell."""
    first = meter.first_token_from_process
    prompt = meter.first_token_from_prompt
    rows = [
        ("total duration", duration(total_seconds)),
        ("load duration", duration(meter.load_seconds)),
        ("prompt eval count", _tokens(meter.prompt_tokens) + _reused(meter.reused_tokens)),
        ("prompt eval duration", duration(meter.prompt_seconds)),
        ("prompt eval rate", _rate(meter.prompt_rate)),
        ("eval count", _tokens(meter.generated_tokens)),
        ("eval duration", duration(meter.decode_seconds)),
        ("eval rate", _rate(meter.decode_rate)),
        *_drafting(meter.counts, lenient),
        (
            "time to first token",
            _NONE
            if first is None or prompt is None
            else f"{duration(first)} from process start, {duration(prompt)} from prompt",
        ),
        ("peak memory", _NONE if peak.value is None else f"{peak.value / 1e6:.1f} MB ({peak.origin})"),
        ("energy", joules(energy)),
        ("energy per token", _joules_each(energy, meter.generated_tokens)),
    ]
    return "".join(f"{label + ':':<{_LABEL_WIDTH}}{value}\n" for label, value in rows)


def joules(energy: Energy | None) -> str:
    """ "12.3 J (measured: RAPL, CPU package)", "4.1 J, 1.2 to 15 (estimated from counted work)"."""
    if energy is None:
        return _NONE
    note = f"; {energy.note}" if energy.note else ""
    if energy.joules is None:
        return _NONE + note
    if energy.low is not None and energy.high is not None:
        span = f", {short(energy.low)} to {short(energy.high)}"
        return f"{short(energy.joules)} J{span} (estimated from {energy.source}){note}"
    origin = f"{energy.origin}: {energy.source}, {energy.scope}, idle power included"
    return f"{short(energy.joules)} J ({origin}){note}"


def short(value: float) -> str:
    """Three figures, never with an exponent: 1234.5 -> "1235", 0.01234 -> "0.0123"."""
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:.{min(digits, 9)}f}"


def _joules_each(energy: Energy | None, tokens: int) -> str:
    each = energy.per(tokens) if energy is not None else None
    return _NONE if energy is None or each is None else f"{short(each)} J ({energy.origin}, prompts included)"


def _drafting(counts: DecodeCounts, lenient: bool) -> list[tuple[str, str]]:
    drafts, width = counts.drafts, counts.tokens_per_pass
    by_source = ", ".join(f"{source} {tokens}" for source, tokens in counts.tokens_by_source.items())
    rows = [
        ("passes", str(counts.passes)),
        ("tokens per pass", "n/a" if width is None else f"{width:.2f}"),
        ("drafts", f"{drafts.drafted} token(s) tested, {drafts.accepted} accepted"),
        ("acceptance", percent(drafts.acceptance)),
        ("tokens by source", by_source or "n/a"),
    ]
    if lenient:
        rows.append(("lenient tokens", f"{drafts.lenient} ({percent(counts.lenient_share)} of all)"))
    return rows


def percent(share: float | None) -> str:
    """0.25 -> "25.0 %"; a share of nothing is "n/a"."""
    return "n/a" if share is None else f"{100 * share:.1f} %"


def duration(seconds: float) -> str:
    """0.0171 -> "17.1ms", 75 -> "1m15.0s"."""
    if seconds < 1:
        return f"{seconds * 1e3:.1f}ms"
    minutes, rest = divmod(seconds, 60)
    return f"{int(minutes)}m{rest:.1f}s" if minutes else f"{rest:.2f}s"


def _tokens(count: int) -> str:
    return f"{count} token(s)"


def _reused(count: int) -> str:
    return f" (and {count} reused)" if count else ""


def _rate(value: float | None) -> str:
    return _NONE if value is None else f"{value:.2f} tokens/s"
