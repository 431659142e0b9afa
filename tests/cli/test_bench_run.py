"""Worker protocol, schedule and measuring, with workers that need no model."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import mtp_cli
from mtp_cli.bench import protocol
from mtp_cli.bench.client import BenchError, Worker, cpu_seconds
from mtp_cli.bench.plan import Plan, context_size
from mtp_cli.bench.prompts import Text, built_in, read_texts
from mtp_cli.bench.report import report
from mtp_cli.bench.results import Results
from mtp_cli.bench.run import measure
from mtp_cli.bench.schedule import Turn, turns

FAKE = Path(__file__).with_name("bench_fake_arm.py")


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers import the package that the tests import."""
    monkeypatch.setenv("PYTHONPATH", str(Path(mtp_cli.__file__).parent.parent))


def command(arm: str, behaviour: str = "") -> list[str]:
    return [sys.executable, str(FAKE), arm, behaviour]


def plan(**changes: Any) -> Plan:
    behaviours = changes.pop("behaviours", {})
    given: dict[str, Any] = {
        "model": Path("fake.gguf"),
        "texts": [Text("one", "hello there"), Text("two", "a longer text, somewhat")],
        "task": "free",
        "max_tokens": 10,
        "runs": 3,
        "arms": ("reference", "plain"),
        "commands": {arm: command(arm, behaviours.get(arm, "")) for arm in ("native", "reference")},
    }
    return Plan(**(given | changes))


def run(**changes: Any) -> dict[str, Any]:
    chosen = plan(**changes)
    results = Results(list(chosen.arms))
    measure(chosen, results, lambda text: None)
    return report(results)


def test_turns_go_a_b_b_a() -> None:
    order = [turn.arm for turn in turns(["A", "B"], 2, 2)]
    assert order == ["A", "B", "B", "A", "B", "A", "A", "B"]


def test_turns_alternate_for_each_item_and_see_every_item_first() -> None:
    seen = list(turns(["A", "B"], 3, 4))
    for item in range(3):
        assert "".join(turn.arm for turn in seen if turn.item == item)[:8] in ("ABBAABBA", "BAABBAAB")
    assert {turn.item for turn in seen[:6]} == {0, 1, 2}
    assert seen[0] == Turn("A", 0, 0)


def test_report_of_two_honest_arms() -> None:
    found = run()
    reference, plain = found["arms"]
    assert (reference["name"], plain["name"]) == ("reference", "plain")
    assert plain["prompts"] == reference["prompts"] == 2
    assert plain["generated_tokens"] == 20
    assert plain["passes"] == 18
    assert plain["prefill_tok_s"] == pytest.approx(2000)
    assert plain["decode_tok_s"] == pytest.approx(500)
    assert reference["decode_tok_s"] == pytest.approx(250)
    assert plain["ttft_ms"] == pytest.approx(1e3 * 0.0005 * (11 + 23) / 2)
    assert reference["ratio_to_reference"] is None
    ratios = plain["ratio_to_reference"]
    for key in ("decode", "prefill", "total_time", "prefill_512"):
        assert ratios[key]["ratio"] == pytest.approx(2.0)
        assert ratios[key]["ci95"] == pytest.approx([2.0, 2.0])
    assert plain["same_as_plain"] == reference["same_as_plain"] == 2
    assert reference["differs_from_plain"] == []
    assert plain["repeatable"] is True
    assert plain["ttft_process_ms"]["n"] == 3
    assert 1 < plain["ttft_process_ms"]["min"] < 20_000
    assert plain["spread"]["decode_tok_s"]["n"] == 3
    assert plain["peak_rss_mb"] > 1
    assert found["verify_cost_ms"]["plain"] == {str(k): pytest.approx(0.5 * (3 + k)) for k in range(1, 9)}
    assert found["verify_cost_ms"]["reference"]["8"] == pytest.approx(11.0)
    assert found["complete"] is True
    assert len(found["samples"]) == 2 * 2 * 3
    assert found["machine"]["cores"] >= 1
    json.dumps(found, allow_nan=False)


def test_arms_that_differ_are_counted_with_the_place() -> None:
    found = run(behaviours={"reference": "differs"}, long_prefill=0, widths=())
    reference, plain = found["arms"]
    assert reference["same_as_plain"] == 0
    assert reference["differs_from_plain"] == [{"prompt": 0, "position": 4}, {"prompt": 1, "position": 4}]
    assert plain["same_as_plain"] == 2


def test_what_could_not_be_had_is_none_and_never_zero() -> None:
    found = run(behaviours={"native": "silent"}, arms=("plain",), long_prefill=0, widths=())
    [plain] = found["arms"]
    assert plain["generated_tokens"] == 0
    assert plain["decode_tok_s"] is None
    assert plain["ttft_ms"] is None
    assert plain["ttft_process_ms"] is None
    assert plain["prefill_512_tok_s"] is None
    assert plain["ratio_to_reference"] is None
    assert found["verify_cost_ms"] == {"plain": {}}


def test_total_time_leaves_out_answers_of_unequal_length() -> None:
    found = run(behaviours={"native": "silent"}, long_prefill=0, widths=())
    assert found["arms"][1]["ratio_to_reference"]["total_time"] is None


def test_prompt_that_is_too_long_is_left_out_with_a_note() -> None:
    found = run(texts=[Text("short", "hello"), Text("long", "x" * 1995)], long_prefill=0, widths=())
    assert [p["name"] for p in found["prompts"]] == ["short"]
    assert any(note.startswith("long left out: 1995 tokens") for note in found["notes"])
    with pytest.raises(BenchError, match="no prompt fits"):
        run(texts=[Text("long", "x" * 1995)])


@pytest.mark.parametrize(
    ("behaviour", "message", "kind"),
    [
        ("no-model", "the file is damaged", protocol.KIND_MODEL),
        ("missing", "not installed", protocol.KIND_MISSING),
        ("threads", "7 threads instead of 2", protocol.KIND_ERROR),
        ("dies", "ended with status 9: something broke here", protocol.KIND_ERROR),
        ("raises", "ValueError: a bug", protocol.KIND_ERROR),
    ],
)
def test_broken_worker_gives_one_line(behaviour: str, message: str, kind: str) -> None:
    with pytest.raises(BenchError, match=message) as caught:
        run(behaviours={"reference": behaviour})
    assert "\n" not in str(caught.value)
    assert "reference" in str(caught.value)
    assert caught.value.kind == kind


def test_worker_that_cannot_start_gives_one_line() -> None:
    with pytest.raises(BenchError, match="cannot start the worker of arm plain"):
        Worker("plain", ["/no/such/program"])


def test_results_so_far_survive_a_dying_worker() -> None:
    chosen = plan(behaviours={"reference": "dies"})
    results = Results(list(chosen.arms))
    with pytest.raises(BenchError):
        measure(chosen, results, lambda text: None)
    found = report(results)
    assert found["complete"] is False
    assert found["arms"][0]["decode_tok_s"] == pytest.approx(250)
    assert found["arms"][1]["runs"] >= 1


def test_what_a_library_prints_does_not_break_the_protocol() -> None:
    found = run(behaviours={"native": "prints"}, long_prefill=0, widths=())
    assert found["arms"][1]["generated_tokens"] == 20


def test_interrupt_ends_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    original = subprocess.Popen

    def remember(*args: Any, **kwargs: Any) -> Any:
        process = original(*args, **kwargs)
        started.append(process)
        return process

    monkeypatch.setattr(subprocess, "Popen", remember)
    chosen = plan()
    results = Results(list(chosen.arms))

    def interrupt(text: str) -> None:
        if "run 1 of 3 (2/12)" in text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(chosen, results, interrupt)
    assert len(results.samples) == 2
    assert len(started) > 4
    assert all(process.poll() is not None for process in started)


def test_kill_does_not_wait_for_a_hanging_worker() -> None:
    worker = Worker("plain", command("native", "hangs"))
    for _ in range(2):
        worker.ask("generate", tokens=[1, 2], max_tokens=2)
    worker.send("generate", tokens=[1, 2], max_tokens=2)
    started = time.perf_counter()
    worker.kill()
    assert time.perf_counter() - started < 5


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_waiting_worker_uses_no_cpu() -> None:
    with Worker("plain", command("native")) as worker:
        worker.ask("generate", tokens=[1, 2], max_tokens=2)
        time.sleep(0.3)
        worker.ask("generate", tokens=[1, 2], max_tokens=2)
        assert worker.idle_s > 0.29
        assert worker.idle_cpu_s <= 0.02
    assert cpu_seconds(os.getpid()) is not None
    assert cpu_seconds(2**30) is None


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_peak_memory_is_the_workers_own_not_the_parents() -> None:
    ballast = bytearray(b"x" * 200_000_000)
    with Worker("plain", command("native")) as worker:
        peak = worker.ask("generate", tokens=[1], max_tokens=1)["peak_rss"]
    assert len(ballast) == 200_000_000
    assert 1_000_000 < peak < 100_000_000


def test_serve_answers_nonsense_with_an_error_and_goes_on() -> None:
    class Nothing:
        def close(self) -> None:
            pass

    out = io.StringIO()
    protocol.serve(Nothing(), io.StringIO('{"op": "close"}\nnot json\n{"op": "cost"}\n'), out)  # type: ignore[arg-type]
    replies = [json.loads(line) for line in out.getvalue().splitlines()]
    assert len(replies) == 3
    assert not any(reply["ok"] for reply in replies)
    assert "unknown request" in replies[0]["error"]


@pytest.mark.parametrize(
    ("longest", "tokens", "prefill", "n_ctx"), [(10, 10, 0, 512), (300, 212, 512, 512), (300, 213, 512, 768)]
)
def test_context_holds_every_measurement(longest: int, tokens: int, prefill: int, n_ctx: int) -> None:
    assert context_size(longest, tokens, prefill) == n_ctx


def test_prompt_file_fields_and_limit(tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    lines = [
        {"turns": ["first", "second"]},
        {"prompt": "asked"},
        {"id": 3, "text": "plain"},
        {"source": "src"},
    ]
    file.write_text("\n\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
    assert [text.text for text in read_texts(file)] == ["first", "asked", "plain", "src"]
    assert [text.text for text in read_texts(file, 2)] == ["first", "asked"]
    assert len(built_in(2)) == 2
    assert all(len(text.text) > 500 for text in built_in())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no prompt"),
        (b"{}\n", "line 1: needs one of the fields"),
        (b'{"turns": []}\n', "line 1: needs"),
        (b'{"text": "a"}\n[1]\n', "line 2: needs"),
        (b"hello\n", "line 1: not JSON"),
        (b"\xff\xfe\x00", "not UTF-8"),
    ],
)
def test_bad_prompt_file_gives_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "p.jsonl"
    file.write_bytes(content)
    with pytest.raises(BenchError, match=message) as caught:
        read_texts(file)
    assert "\n" not in str(caught.value)


def test_missing_prompt_file_or_folder_gives_one_line(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(BenchError, match="cannot read"):
            read_texts(path)
