"""What `mtp bench` says about drafting: arithmetic and shape, with workers that need no model."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

import mtp_cli
from mtp_cli.bench.arms import find
from mtp_cli.bench.client import BenchError
from mtp_cli.bench.lenient import ALPHAS, edit_distance, lenient_arms
from mtp_cli.bench.plan import Plan
from mtp_cli.bench.prompts import Text, asked, with_tasks
from mtp_cli.bench.report import report
from mtp_cli.bench.results import Results
from mtp_cli.bench.run import measure
from mtp_cli.bench.stops import Stops
from mtp_cli.bench.worker_native import NativeArm
from mtp_cli.view.bench_report import render
from tests.cli.fake_engine import FakeEngine

FAKE = Path(__file__).with_name("bench_fake_arm.py")
TEXTS = [Text("one", "hello there"), Text("two", "a longer text, somewhat")]


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers import the package that the tests import."""
    monkeypatch.setenv("PYTHONPATH", str(Path(mtp_cli.__file__).parent.parent))


def run(*arms: str, behaviour: str = "", **changes: Any) -> dict[str, Any]:
    commands = {name: [sys.executable, str(FAKE), name, behaviour] for name in ("native", "reference")}
    given: dict[str, Any] = {"texts": TEXTS, "task": "free", "max_tokens": 10, "runs": 2}
    given |= {"fresh": False, "long_prefill": 0, "widths": ()}
    plan = Plan(model=Path("fake.gguf"), arms=arms, commands=commands, **(given | changes))
    results = Results(list(arms))
    measure(plan, results, lambda text: None)
    found = report(results)
    json.dumps(found, allow_nan=False)
    for form in ("text", "markdown", "csv"):
        words = render(found, form).replace("|", " ").replace(",", " ").split()
        assert not {"nan", "None", "inf", "nanx", "infx"} & set(words)
    return found


def test_arms_are_priced_for_another_cpu() -> None:
    found = run("plain", "auto", "copy", price_column=0.1)
    plain, auto, copy = found["arms"]
    # 9 tokens: 8 plain passes of 1.25 steps each against 5 steps
    assert auto["priced"] == copy["priced"]
    assert auto["priced"] == {
        "prompts": 2,
        "passes": 8,
        "tokens_per_pass": 2.25,
        "ratio_to_plain_priced": 2.0,
    }
    assert plain["priced"] is None
    line = "auto simulated for a CPU where a further token of a pass costs 0.100 of the first: 2.25 tokens"
    assert line in " ".join(render(found, "text").split())
    assert run("plain", "auto")["arms"][1]["priced"] is None


def test_counts_and_ratios_of_an_arm_that_drafts() -> None:
    reference, plain, auto, fixed = run("reference", "plain", "auto", "fixed-2")["arms"]
    # 10 tokens a prompt, the first without a pass, then 4 passes of 2
    assert (auto["generated_tokens"], auto["passes"], auto["tokens_per_pass"]) == (20, 8, 2.5)
    assert (auto["drafted"], auto["accepted"], auto["acceptance"]) == (8, 8, 1.0)
    assert (fixed["drafted"], fixed["accepted"], fixed["acceptance"]) == (16, 8, 0.5)
    assert fixed["by_position"] == [
        {"drafted": 8, "accepted": 8, "acceptance": 1.0},
        {"drafted": 8, "accepted": 0, "acceptance": 0.0},
    ]
    copied = {"tokens": 8, "drafted": 16, "accepted": 8, "acceptance": 0.5}
    assert fixed["by_source"] == {"backbone": {"tokens": 12}, "copy": copied}
    assert plain["tokens_per_pass"] == pytest.approx(20 / 18, abs=1e-4)
    assert (plain["drafted"], plain["acceptance"], plain["by_position"]) == (0, None, [])
    assert (reference["drafted"], reference["by_source"]) == (0, {})
    # 40 units of time a prompt in plain, 4 x 4.4 in auto, twice 40 in the reference
    assert auto["ratio_to_plain"]["decode"]["ratio"] == pytest.approx(40 / 17.6, abs=1e-3)
    assert auto["ratio_to_plain"]["decode"]["ci95"] == pytest.approx([40 / 17.6] * 2, abs=1e-3)
    assert auto["ratio_to_reference"]["decode"]["ratio"] == pytest.approx(80 / 17.6, abs=1e-3)
    assert plain["ratio_to_plain"] is None
    assert [arm["same_as_plain"] for arm in (reference, plain, auto, fixed)] == [2, 2, 2, 2]


def test_counts_are_those_of_the_first_run() -> None:
    once, often = run("plain", "auto", runs=1), run("plain", "auto", runs=4)
    for key in ("drafted", "accepted", "by_source", "by_position", "passes", "tokens_per_pass"):
        assert once["arms"][1][key] == often["arms"][1][key]


def test_gate_is_compared_with_the_best_fixed_length() -> None:
    found = run("plain", "auto", "fixed-2", "fixed-8")
    assert found["gate"]["best_fixed"] == "fixed-2"
    assert found["gate"]["ratio"] == pytest.approx(4.8 / 4.4, abs=1e-3)
    assert "auto is 1.09x [1.09, 1.09] the best fixed length (fixed-2)" in render(found, "text")
    assert run("plain", "auto")["gate"] is None
    assert run("plain", "fixed-2")["gate"] is None


def test_oracle_is_priced_and_says_so() -> None:
    found = run("plain", "auto", "fixed-1")
    auto, fixed = found["arms"][1:]
    # of each prompt 3 passes of 4.8 units, against 9 of 4 units in plain
    assert auto["oracle"] == {
        "prompts": 2,
        "passes": 6,
        "tokens_per_pass": pytest.approx(20 / 6, abs=1e-4),
        "ratio_to_plain_priced": pytest.approx(2.5),
    }
    assert fixed["oracle"] is None
    assert "3.33 tokens a pass, 2.50x plain (priced with" in render(found, "text")


def test_fixed_lengths_share_a_process_and_have_no_memory_of_their_own() -> None:
    found = run("plain", "auto", "fixed-1", "fixed-4", fresh=True)
    plain, auto, *fixed = found["arms"]
    assert plain["peak_rss_mb"] > 1
    assert auto["peak_rss_mb"] > 1
    assert auto["ttft_process_ms"]["n"] == 2
    assert [arm["peak_rss_mb"] for arm in fixed] == [None, None]
    assert [arm["ttft_process_ms"] for arm in fixed] == [None, None]
    assert any("share one process" in note for note in found["notes"])


def test_pass_costs_are_measured_for_one_native_arm() -> None:
    found = run("reference", "plain", "auto", widths=(1, 4), long_prefill=512)
    assert {arm: len(curve) for arm, curve in found["verify_cost_ms"].items()} == {
        "reference": 2,
        "plain": 2,
        "auto": 0,
    }
    assert found["arms"][2]["prefill_512_tok_s"] is None
    assert list(run("auto", "copy", widths=(1,))["verify_cost_ms"]["auto"]) == ["1"]


def test_reports_show_drafting(monkeypatch: pytest.MonkeyPatch) -> None:
    found = run("reference", "plain", "auto", "fixed-2")
    text, table, rows = (render(found, form) for form in ("text", "markdown", "csv"))
    for words in (
        "tokens a pass",
        "acceptance",
        "place in the draft",
        "to reference",
        "same as plain",
        "n/a",
    ):
        assert words in text
        assert words in table
    for row in (
        "fixed-2,acceptance,0.5,,",
        "fixed-2,by_position.2.acceptance,0.0,,",
        "fixed-2,by_source.copy.tokens,8,,",
        "auto,ratio_to_plain.decode,2.273,2.273,2.273",
        "auto,oracle.ratio_to_plain_priced,2.5,,",
        "auto,ratio_to_best_fixed.fixed-2,1.091,1.091,1.091",
        "plain,acceptance,unavailable,,",
    ):
        assert row in rows.splitlines()


def test_other_ids_than_plain_in_any_run_are_shouted() -> None:
    # the first run is right (and the warm-up), a later one is not
    found = run("plain", "auto", behaviour="drafts-wrong", runs=3)
    [line] = found["not_exact"]
    assert line == "auto gave other token ids than plain on 2 of 2 prompts, first in one at token 4"
    assert found["arms"][1]["same_as_plain"] == 0
    assert found["arms"][0]["same_as_plain"] == 2
    assert render(found, "text").startswith(f"WARNING: {line}\n")
    assert line in render(found, "markdown")


def test_reference_may_differ_without_a_warning() -> None:
    # without the source, the reference of these workers answers backwards
    found = run("reference", "plain", "auto", texts=[Text("one", "ab. cd")], task="proofread")
    assert found["arms"][0]["same_as_plain"] == 0
    assert found["not_exact"] == []


def test_sampled_run_leaves_the_greedy_reference_out() -> None:
    found = run("reference", "plain", "auto", temperature=1.0, seed=3)
    assert [arm["name"] for arm in found["arms"]] == ["plain", "auto"]
    assert found["arms"][1]["same_as_plain"] == 2
    assert any("greedy and was left out" in note for note in found["notes"])
    assert "temperature 1, seed 3" in render(found, "text")
    assert not any("left out" in note for note in run("plain")["notes"])
    with pytest.raises(BenchError, match="--temperature 0"):
        run("reference", temperature=1.0)


def test_source_and_stops_reach_the_arms() -> None:
    # the answer to a proofread text is the text; it ends at the stop
    found = run("plain", "auto", texts=[Text("one", "ab. cd")], task="proofread")
    assert [arm["generated_tokens"] for arm in found["arms"]] == [3, 3]
    assert found["settings"]["task"] == "proofread"


def test_mixed_workload_gives_each_text_its_task() -> None:
    texts = [Text(name, f"{name}. and more") for name in "abcd"]
    assert [t.task for t in with_tasks(texts, "mixed")] == ["summarize", "proofread", "free", "summarize"]
    own = [Text("a", "x", "free"), Text("b", "y")]
    assert [t.task for t in with_tasks(own, "proofread")] == ["free", "proofread"]
    found = run("plain", "auto", texts=texts, task="mixed")
    assert found["settings"]["task"] == "summarize and proofread and free"
    # the proofread text ends at its first stop after 2 tokens, the others at the limit
    assert found["arms"][0]["generated_tokens"] == 10 + 2 + 10 + 10


def test_reference_says_whether_its_own_verification_repeats_its_text() -> None:
    found = run("reference", "plain", verify=True)
    assert found["reference_verify"] == {
        "prompts": 2,
        "prompts_differing": 1,
        "positions": 18,
        "positions_differing": 2,
    }
    assert "on 1 of 2 prompts, at 2 of 18 positions" in render(found, "text")
    assert run("reference", "plain")["reference_verify"] is None


def test_lenient_table_has_speed_share_and_distance() -> None:
    found = run(*lenient_arms("token-v3"), lenient="token-v3")
    rows = found["lenient"]["rows"]
    assert [row["alpha"] for row in rows] == [None, *ALPHAS]
    assert [row["edits_per_100_tokens"] for row in rows] == [0.0, 0.0, 0.0, 10.0, 10.0, 10.0]
    assert [row["lenient_share"] for row in rows] == [0.0, 0.0, 0.0, 0.4, 0.4, 0.4]
    assert rows[0]["ratio_to_exact"] is None
    assert rows[3]["ratio_to_exact"]["ratio"] == pytest.approx(1.0)
    assert rows[3]["ratio_to_plain"]["ratio"] == pytest.approx(40 / 17.6, abs=1e-3)
    assert found["not_exact"] == []
    text = render(found, "text")
    assert "lenient, token-v3" in text
    assert "may give another text" in text
    assert "token-v3:0.3,edits_per_100_tokens,10.0,," in render(found, "csv")


def slow_distance(one: list[int], other: list[int]) -> int:
    if not one or not other:
        return len(one) + len(other)
    if one[0] == other[0]:
        return slow_distance(one[1:], other[1:])
    return 1 + min(
        slow_distance(one[1:], other), slow_distance(one, other[1:]), slow_distance(one[1:], other[1:])
    )


def test_edit_distance_equals_the_definition() -> None:
    assert edit_distance([1, 2, 3], [1, 3]) == 1
    assert edit_distance([], [4, 5]) == 2
    draw = random.Random(3)
    for _ in range(60):
        one, other = ([draw.randrange(3) for _ in range(draw.randrange(6))] for _ in range(2))
        assert edit_distance(one, other) == slow_distance(one, other)


@pytest.mark.parametrize("name", ["fixed-0", "fixed-16", "fixed-x", "fast", "", "token-v3:", "token-v3:x"])
def test_unknown_arm_is_named(name: str) -> None:
    with pytest.raises(ValueError, match="known arms: reference, plain, auto, copy, head, "):
        find(name)


def test_arms_say_what_is_drafted() -> None:
    assert find("plain").drafting == {"mode": "off"}
    assert find("auto").drafting == {"mode": "auto"}
    assert find("fixed-4").drafting == {"mode": "auto", "fixed": 4}
    assert find("copy-4").drafting == {"mode": "copy", "fixed": 4}
    assert find("copy+head-4").drafting == {"mode": "copy+head", "fixed": 4}
    assert find("head").drafting == {"mode": "head"}
    assert find("fixed-4").worker == find("fixed-8").worker != find("auto").worker
    assert find("token-v3:0.2").drafting == {"mode": "auto", "lenient": "token-v3", "alpha": 0.2}


def test_stops_end_an_answer_that_has_begun() -> None:
    gate = Stops(["\n", "END"])
    assert [gate.feed(text) for text in ("\n ", "a b", "E", "N")] == ["\n ", "a b", "E", "N"]
    assert not gate.stopped
    gate.feed("D")
    assert gate.stopped
    never = Stops([])
    never.feed("\n\n")
    assert not never.stopped


def test_native_arm_hands_its_options_to_the_engine_and_its_counts_back() -> None:
    engine = FakeEngine(lambda prompt: "one two three four five\nsix", drafts=2)
    arm = NativeArm()
    arm._engine = engine
    prompt = engine.tokenize("say it")
    reply = arm.generate(
        prompt,
        20,
        stops=["\n"],
        source=[5, 6],
        sampling={"temperature": 0.5, "seed": 9},
        drafting={"mode": "copy", "fixed": 3},
    )
    assert reply["text"] == "one two three four five\n"
    [(source, sampling, drafting)] = engine.starts
    assert source == [5, 6]
    assert (sampling.temperature, sampling.seed) == (0.5, 9)
    assert (drafting.mode, drafting.fixed) == ("copy", 3)
    counts = reply["drafts"]["copy"]
    assert counts["drafted"] >= counts["accepted"] > 0
    assert sum(reply["tokens_by_source"].values()) == len(reply["ids"])
    json.dumps(reply, allow_nan=False)
    plain = arm.generate(prompt, 20)
    assert engine.starts[-1][2].mode == "off"
    assert plain["drafts"] == {}
    assert plain["ids"][: len(reply["ids"])] == reply["ids"]


def test_free_text_is_what_a_person_says_to_a_chat_model() -> None:
    engine = FakeEngine(lambda prompt: "")
    found = asked(engine, "hello you", "free", Path("fake.gguf"))
    assert found.tokens == engine.tokenize(
        engine.chat_prompt([("user", "hello you")]), special=True, bos=True
    )
    assert (found.source, found.stops) == ([], [])
    line = asked(engine, "hello\n  you", "proofread", Path("fake.gguf"))
    assert b"".join(map(engine.piece, line.source)).decode().strip() == "hello you"
    assert line.stops == ["\n"]
    with pytest.raises(BenchError, match="no task 'dance'"):
        asked(engine, "hello", "dance", Path("fake.gguf"))
