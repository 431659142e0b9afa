"""What a benchmark tells of the bytes that passes read and of the output rows computed in full."""

from __future__ import annotations

import json
from dataclasses import replace

from mtp_cli.bench.report import report
from mtp_cli.bench.results import Prompt, Results, Sample
from mtp_cli.bench.screening import between, quantile
from mtp_cli.view.bench_report import render

BUCKETS = 160


def counters(passes: int, full: int, groups: int, survivors: int, **by: int) -> dict[str, object]:
    found = [0] * BUCKETS
    for bucket, n in by.items():
        found[int(bucket[1:])] = n
    return {
        "passes": passes,
        "full_passes": full,
        "groups": groups,
        "survivors": survivors,
        "by_survivors": found,
    }


def test_between_two_looks_at_the_counters() -> None:
    found = between(counters(3, 1, 300, 30, b8=3), counters(10, 2, 1000, 51, b8=5, b16=5))
    assert (found["passes"], found["full_passes"], found["groups"], found["survivors"]) == (7, 1, 700, 21)
    assert found["by_survivors"][8] == 2 and found["by_survivors"][16] == 5


def test_quantiles_are_those_of_the_buckets() -> None:
    counts = [0] * BUCKETS
    assert quantile(counts, 0.5) is None
    counts[0], counts[8], counts[80] = 10, 85, 5  # 0, 1 and 1023 groups
    assert (quantile(counts, 0.05), quantile(counts, 0.5), quantile(counts, 0.99)) == (0, 1, 1023)


def results() -> Results:
    found = Results(["plain"], [Prompt("a", [1], "summarize"), Prompt("b", [1], "proofread")])
    found.settings = {"threads": 2, "runs": 1, "max_tokens": 10}
    for prompt, (survivors, bucket) in enumerate([(10, "b8"), (300, "b40")]):
        sample = Sample("plain", prompt, 0, 1, 10, 9, 0.1, 0.2, 0.1, 0.3, 0.3)
        screen = counters(9, 1, 9000, survivors, **{bucket: 9})
        work = {"passes": 10, "bytes": 2.5e9}
        found.samples.append(replace(sample, screen=screen, decode_work=work))
        found.ids[("plain", prompt)] = [[7] * 10]
    return found


def test_report_by_task() -> None:
    made = report(results())
    one, other = made["arms"][0]["screening"]
    assert one == {
        "task": "summarize",
        "bytes_per_pass": 250_000_000,
        "passes": 9,
        "fallback_share": 0.1,
        "rows_median": 8,
        "rows_p99": 8,
        "rows_share": 0.0011,
    }
    assert other["task"] == "proofread" and other["rows_median"] == 8 * 31
    assert json.loads(render(made, "json"))["arms"][0]["screening"] == [one, other]
    assert "plain,screening.proofread.rows_median,248,," in render(made, "csv")
    assert "MB read a pass" not in render(made, "text")
    shown = render(made, "text", verbose=True)
    assert "MB read a pass" in shown and "250.0" in shown and "10.0 %" in shown


def test_arms_that_count_nothing_are_left_out() -> None:
    found = results()
    found.samples = [replace(sample, screen={}, decode_work={}) for sample in found.samples]
    made = report(found)
    assert made["arms"][0]["screening"] == []
    assert "MB read a pass" not in render(made, "text", verbose=True)
