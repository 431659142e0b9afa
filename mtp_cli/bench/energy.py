"""Energy of the arms: a sensor read around each answer, else an estimate from counted work.

One report holds one or the other, never a measurement beside an estimate."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from threading import Event, Thread
from types import TracebackType
from typing import Any

from mtp_cli.bench.arms import PLAIN, REFERENCE, find
from mtp_cli.bench.ratios import ratio_record
from mtp_cli.bench.results import Results, Sample
from mtp_cli.bench.statistics import Pair, median, paired_ratio
from mtp_cli.meters.estimate import constants_for, estimate, ratio_range
from mtp_cli.meters.sources import Source, SourceLost
from mtp_cli.meters.sources.find import find_source
from mtp_cli.work import PassShape, Work, a_pass, in_chunks

IDLE_S, SLOW_IDLE_S = 2.0, 6.0
"""How long the idle machine is watched: by a fast sensor, by a battery's gauge."""
SLOW_LEAST_S = 10.0
"""A battery's gauge follows slowly: of answers shorter than that it mixes up whose power it was."""
TOO_SHORT = (
    f"the battery's gauge needs answers of {SLOW_LEAST_S:.0f} s and more (--max-tokens, or longer texts); "
    "these were shorter"
)
_TICK_S = 0.1
REFERENCE_CHUNK = 512
"""Tokens of a prefill pass of the reference (its n_ubatch)."""


class Watch:
    """Reads the machine's sensor around what the workers do, from the parent: for every arm alike."""

    def __init__(self, results: Results, source: Source | None = None) -> None:
        self._results = results
        self._source = source if source is not None else find_source().source
        self._stop = Event()
        self._ticker: Thread | None = None
        self.joules: float | None = None
        """of the newest answer; None without a sensor"""
        if self._source is not None:
            slow = {} if self._source.live else {"slow": True}
            sensor = {"source": self._source.name, "scope": self._source.scope, "idle_watts": None, **slow}
            results.sensor = sensor

    @property
    def there(self) -> bool:
        """Whether there is a sensor, still."""
        return self._source is not None

    def idle(self) -> None:
        """Measure what the machine draws while all workers sleep."""
        if self._source is None:
            return
        seconds = IDLE_S if self._source.live else SLOW_IDLE_S
        began = time.monotonic()
        with self:
            time.sleep(seconds)
        if self.joules is not None:
            self._results.sensor["idle_watts"] = self.joules / (time.monotonic() - began)

    def __enter__(self) -> None:
        self.joules = None
        if self._source is None:
            return
        try:
            self._source.begin()
        except SourceLost as error:
            self._lose(error)
            return
        if self._source.live:
            self._stop.clear()
            self._ticker = Thread(target=self._tick, args=(self._source,), daemon=True)
            self._ticker.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ticker is not None:
            self._stop.set()
            self._ticker.join()
            self._ticker = None
        if self._source is None or kind is not None:
            return
        try:
            self.joules = self._source.joules()
        except SourceLost as lost:
            self._lose(lost)

    def _tick(self, source: Source) -> None:
        """Powers change all the time; what goes wrong here shows when the joules are read."""
        while not self._stop.wait(_TICK_S):
            try:
                source.tick()
            except SourceLost:
                return

    def _lose(self, error: SourceLost) -> None:
        assert self._source is not None
        self._results.notes.append(f"energy: {self._source.name} gave up ({error}); estimates stand instead")
        self._results.sensor = {}
        self._source = None


def counted(sample: Sample, reply: Mapping[str, Any], model: Mapping[str, Any]) -> dict[str, Any]:
    """The work of an answer: as its worker counted it; the reference's by the same shapes, one token a pass.
    Seconds are the CPU time of the worker for all arms. Empty where nothing can be counted."""
    work = dict(reply.get("work") or {})
    if not find(sample.arm).native and model.get("shape"):
        shape = PassShape(**model["shape"])
        found = in_chunks(shape, 0, sample.prompt_tokens, REFERENCE_CHUNK, all_rows=False)
        for i in range(sample.passes):
            found += a_pass(shape, sample.prompt_tokens + i, 1, 1)
        work = asdict(found)
    return {**work, "core_seconds": sample.cpu_s} if work else {}


def described(results: Results) -> dict[str, Any]:
    """Where the joules of this report come from."""
    if _measured(results):
        return {"origin": "measured", **results.sensor}
    remark = {"note": TOO_SHORT} if _too_short(results) else {}
    if not any(sample.work for sample in results.samples):
        return {"origin": "unavailable", **remark}
    names = ("watts_of_a_core", "joules_a_byte", "joules_a_multiply_add")
    constants = {
        name: {"low": one.low, "usual": one.usual, "high": one.high, "source": one.source}
        for name, one in zip(names, constants_for().all, strict=True)
    }
    return {"origin": "estimated", "source": "counted work", "constants": constants, **remark}


def of_arm(results: Results, arm: str) -> dict[str, Any] | None:
    """Joules for a generated token and for an answer, prompts included, and how many times plain's and the
    reference's energy is that of this arm. None where nothing is known."""
    joules_of = _reader(results)
    groups = [[(s, j) for s in group if (j := joules_of(s)) is not None] for group in results.of(arm)]
    groups = [group for group in groups if group]
    tokens = sum(group[0][0].generated_tokens for group in groups)
    if not groups or not tokens:
        return None
    total = sum(median([joules for _, joules in group]) for group in groups)
    spans = {}
    if not _measured(results):
        found = estimate(_total([group[0][0] for group in groups]), constants_for())
        spans = {"joules_per_token_range": [_rounded(found.low / tokens), _rounded(found.high / tokens)]}
    return {
        "joules_per_token": _rounded(total / tokens),
        "joules_per_answer": _rounded(total / len(groups)),
        **spans,
        "ratio_to_plain": energy_ratio(results, arm, PLAIN),
        "ratio_to_reference": energy_ratio(results, arm, REFERENCE),
    }


def energy_ratio(results: Results, arm: str, base: str) -> dict[str, Any] | None:
    """Energy of `base` over that of `arm` (above 1: the arm takes less), on answers of equally many tokens.

    `ci95`: over prompts and runs. Of estimates it is a ratio of counted work, and `range` holds what it may
    be with any other constants: of those, the ones that both arms have in common cancel."""
    if arm == base or base not in results.arms:
        return None
    pairs = [
        [(b, a) for b, a in group if b.generated_tokens == a.generated_tokens]
        for group in results.pairs(arm, base)
    ]
    joules_of = _reader(results)
    joules = [[(joules_of(b), joules_of(a)) for b, a in group] for group in pairs]
    # a rate of answers for each joule
    record = ratio_record(paired_ratio([[Pair(1, b, 1, a) for b, a in group if b and a] for group in joules]))
    if record is None:
        return None
    if _measured(results):
        return {**record, "of": "measured joules"}
    shared = [pair for group in pairs for pair in group]
    bounds = ratio_range(_total([b for b, _ in shared]), _total([a for _, a in shared]), constants_for())
    span = None if bounds is None else [_rounded(bound) for bound in bounds]
    return {**record, "of": "counted work", "range": span}


def _measured(results: Results) -> bool:
    """Whether every answer has been measured, by a sensor that can follow: else all are estimated."""
    complete = bool(results.samples) and all(sample.joules is not None for sample in results.samples)
    return complete and not _too_short(results)


def _too_short(results: Results) -> bool:
    """Whether the answers were too short for the sensor."""
    walls = [sample.wall_s for sample in results.samples]
    return bool(results.sensor.get("slow")) and bool(walls) and median(walls) < SLOW_LEAST_S


def _reader(results: Results) -> Callable[[Sample], float | None]:
    """Tells the joules of one answer: measured and without the idle power, or estimated. None where that
    makes no sense."""
    constants, idle = constants_for(), results.sensor.get("idle_watts") or 0.0

    def estimated(sample: Sample) -> float | None:
        return estimate(Work(**sample.work), constants).joules if sample.work else None

    def measured(sample: Sample) -> float | None:
        net = (sample.joules or 0.0) - idle * sample.wall_s
        return net if net > 0 else None

    return measured if _measured(results) else estimated


def _total(samples: list[Sample]) -> Work:
    total = Work()
    for sample in samples:
        total += Work(**sample.work)
    return total


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
