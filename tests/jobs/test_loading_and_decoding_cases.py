"""More that went wrong for users of other tools: damaged and odd model files, limits, counters, stale
state."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
import pytest

from mtp_cli import catalog
from mtp_cli.engine import Drafting, Engine, open_engine
from mtp_cli.events import EndEvent, FinishReason, StepEvent
from mtp_cli.generate import generate
from mtp_cli.tasks.prompts import DEFAULTS, Prompt, Template, template_for
from numerics.tiny_gguf import TinySpec, write_tiny

pytestmark = [pytest.mark.native, pytest.mark.slow]
LIMIT = 128
DRAFTINGS = [Drafting("off"), Drafting("auto"), Drafting("copy", 15), Drafting("copy", 3)]
GEMMA_TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<start_of_turn>{{ m.role }}\n"
    "{{ m.content }}<end_of_turn>{% endfor %}"
)
LIST = "Cats sit on mats. Dogs sit on mats. Cats lie on mats. Dogs lie on mats. Cats sit on"


def summarized(model: Path, tmp_path: Path) -> subprocess.CompletedProcess[bytes]:
    (tmp_path / "in.txt").write_text("The roof leaks.")
    command = [sys.executable, "-m", "mtp_cli", "summarize", "-m", str(model), str(tmp_path / "in.txt")]
    # not where the sources lie: what is installed is to be tested
    return subprocess.run(command, capture_output=True, check=False, cwd=tmp_path)


def one_line(done: subprocess.CompletedProcess[bytes]) -> str:
    """What a refused model says."""
    said = done.stderr.decode()
    assert (done.returncode, done.stdout, said.count("\n")) == (3, b"", 1), said
    assert said.startswith("mtp: ")
    return said


@pytest.fixture
def engine(smollm2: Path) -> Iterator[Engine]:
    engine = open_engine(smollm2, n_ctx=512)
    yield engine
    engine.close()


def answer(engine: Engine, prompt: Sequence[int], **options: object) -> tuple[list[int], EndEvent]:
    """(tokens, totals)."""
    events = list(generate(engine, prompt, **options))  # type: ignore[arg-type]
    assert isinstance(events[-1], EndEvent)
    return [event.token for event in events if isinstance(event, StepEvent)], events[-1]


@pytest.mark.model
@pytest.mark.parametrize("share", [0.9, 0.5, 0.01])
def test_a_file_that_was_cut(smollm2: Path, tmp_path: Path, share: float) -> None:
    size = smollm2.stat().st_size
    cut = tmp_path / "cut.gguf"
    with smollm2.open("rb") as whole:
        cut.write_bytes(whole.read(int(size * share)))
    said = one_line(summarized(cut, tmp_path))
    assert "incomplete" in said or "ends" in said or "cut" in said
    if share > 0.1:  # less of it does not tell how long it was
        assert str(cut.stat().st_size) in said.replace(",", "")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"My diary.\nToday it rained, and nothing else took place.\n", "not a GGUF file"),
        (b"GGUF" + (1).to_bytes(4, "little") + bytes(64), "GGUF version 1; only 2 and 3 are read"),
        (b"", "empty"),
        (b"GG", "GGUF"),
    ],
)
def test_what_is_no_model(tmp_path: Path, data: bytes, says: str) -> None:
    (tmp_path / "odd.gguf").write_bytes(data)
    assert says in one_line(summarized(tmp_path / "odd.gguf", tmp_path))


@pytest.mark.model
def test_a_model_without_an_output_matrix_loads(smollm2: Path, engine: Engine) -> None:
    with smollm2.open("rb") as file:
        assert b"\0output.weight" not in file.read(4_000_000)
    assert answer(engine, engine.tokenize("A cat", bos=True), max_tokens=4)[0]


@pytest.mark.model
@pytest.mark.parametrize("name", ["smollm2", "gemma3"])
@pytest.mark.parametrize("task", ["summarize", "proofread"])
def test_one_token_begins_the_text(name: str, task: str, request: pytest.FixtureRequest) -> None:
    """Neither two of them, where the template writes one too, nor none."""
    engine = open_engine(request.getfixturevalue(name), n_ctx=512)
    try:
        entry = catalog.load_catalog()[{"smollm2": "smollm2-135m", "gemma3": "gemma3-270m"}[name]]
        [bos] = engine.tokenize("", bos=True) or [None]
        prompt = Prompt(engine, template_for(task, entry.prompts, chat=engine.info.has_chat_template))
        tokens = prompt.tokens("The roof leaks.")
        first = 1 if bos is None else bos
        assert (tokens[0], tokens[1] == first) == (first, False)
    finally:
        engine.close()


@pytest.mark.parametrize("system", ["", "You are kind."])
def test_a_template_without_a_system_role(tmp_path: Path, system: str) -> None:
    spec = TinySpec(arch="gemma3", tokenizer="spm", n_vocab=512, chat_template=GEMMA_TEMPLATE)
    engine = open_engine(write_tiny(tmp_path / "tiny.gguf", spec), n_ctx=256)
    try:
        text = Prompt(engine, Template("chat", "Text: {text}", system=system)).text("Hi.")
        assert text.count("<start_of_turn>user") == 1
        assert "<start_of_turn>system" not in text
        assert text.index(system) < text.index("Hi.")
        assert engine.tokenize(text, special=True, bos=True).count(engine.tokenize("", bos=True)[0]) == 1
        assert Prompt(engine, DEFAULTS["chat"]["proofread"]).text("Hi.").count("<start_of_turn>system") == 0
    finally:
        engine.close()


@pytest.mark.model
def test_exactly_the_tokens_that_were_asked_for(engine: Engine) -> None:
    prompt = engine.tokenize(LIST, bos=True)
    found = []
    for drafting in DRAFTINGS:
        tokens, end = answer(engine, prompt, max_tokens=LIMIT, drafting=drafting)
        assert (len(tokens), end.generated_tokens, end.reason) == (LIMIT, LIMIT, FinishReason.TOKEN_LIMIT)
        found.append(tokens)
    assert all(tokens == found[0] for tokens in found)


@pytest.mark.model
def test_counters_cover_what_came_out(engine: Engine) -> None:
    template = template_for("proofread", catalog.load_catalog()["smollm2-135m"].prompts, chat=True)
    prompt = Prompt(engine, template)
    ended = 0
    for text in (
        "The weather is nice today, I think.",
        "He go to school.",
        "Yes.",
        "It is a nice day and all is well.",
    ):
        plain, _ = answer(engine, prompt.tokens(text), max_tokens=40, drafting=Drafting("off"))
        source = prompt.repeated(text) * 2  # goes on where the answer ends
        for drafting in DRAFTINGS[1:]:
            tokens, end = answer(engine, prompt.tokens(text), max_tokens=40, source=source, drafting=drafting)
            assert tokens == plain
            assert sum(end.tokens_by_source.values()) == end.generated_tokens == len(tokens)
            emitted = sum(count for origin, count in end.tokens_by_source.items() if origin != "backbone")
            # an end token that was drafted rightly was accepted, and is no token of the answer
            assert 0 <= end.accepted - emitted <= (end.reason is FinishReason.END_TOKEN)
            assert end.accepted <= end.drafted
            ended += end.reason is FinishReason.END_TOKEN and end.accepted > 0
    assert ended


@pytest.mark.model
def test_no_answer_depends_on_those_before_it(engine: Engine) -> None:
    one, two = (engine.tokenize(text, bos=True) for text in (LIST, "The harbour was quiet."))
    first, _ = answer(engine, one, max_tokens=48)
    held = psutil.Process().memory_info().rss
    assert answer(engine, one, max_tokens=48)[0] == first
    assert answer(engine, one, max_tokens=48)[0] == first
    other, _ = answer(engine, two, max_tokens=48)
    assert other != first
    assert answer(engine, one, max_tokens=48)[0] == first
    assert psutil.Process().memory_info().rss - held < 8_000_000
