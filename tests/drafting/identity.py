"""Whether drafting ever changes a token, on a real model and many prompts.

python -m tests.drafting.identity --model smollm2-135m --task proofread --prompts FILE.jsonl

Each line of FILE is an object with `text`, `prompt`, `source` or `turns`. For every prompt, thread count and
way of sampling, plain decoding with one thread is compared with: plain decoding; copy drafts of fixed
lengths; gated copy drafts; perfect drafts with the end token behind them; a token limit inside a
draft; a context that ends inside a draft. Prints "N of N" for each; the exit code is 1 when any text differs.
With --keep FILE the tally is on disk after every prompt, and the same command goes on from there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mtp_cli.engine import GREEDY, Drafting, Engine, EngineError, Sampling, open_engine
from mtp_cli.engine_native import NativeEngine
from mtp_cli.events import FinishReason
from mtp_cli.tasks.prompts import Prompt, template_for

from .answers import OFF, Answer, Scripted, answer

SMALL = 256
"""Context of the engines for the arm `context`."""
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8)


@dataclass
class Question:
    """One prompt, and what its answer is expected to repeat."""

    tokens: list[int]
    source: list[int]


@dataclass
class Tally:
    """Texts compared and equal, by arm; the first few differences in words."""

    compared: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    equal: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    drafted: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    accepted: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    differences: list[str] = field(default_factory=list)
    prompts: int = 0

    @classmethod
    def read(cls, path: Path, wish: str) -> Tally:
        """What an earlier run for the same `wish` has counted; empty when there is none."""
        tally = cls()
        if path.exists():
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["wish"] != wish:
                raise SystemExit(f"{path} is the tally of other options: {found['wish']}")
            for name in ("compared", "equal", "drafted", "accepted"):
                getattr(tally, name).update(found["tally"][name])
            tally.differences = found["tally"]["differences"]
            tally.prompts = found["tally"]["prompts"]
        return tally

    def write(self, path: Path, wish: str) -> None:
        """Put it in place of the earlier one."""
        part = path.with_suffix(".part")
        part.write_text(json.dumps({"wish": wish, "tally": vars(self)}), encoding="utf-8")
        part.replace(path)

    def note(self, arm: str, where: str, found: Answer, tokens: Sequence[int], finish: object) -> None:
        """One comparison."""
        self.compared[arm] += 1
        self.drafted[arm] += found.drafted
        self.accepted[arm] += found.accepted
        if (found.tokens, found.finish) == (list(tokens), finish):
            self.equal[arm] += 1
            return
        pairs = enumerate(zip(found.tokens, tokens, strict=False))
        at = next((at for at, (one, two) in pairs if one != two), min(len(found.tokens), len(tokens)))
        self.differences.append(f"{arm}, {where}: token {at} of {len(tokens)}; {found.finish}, not {finish}")

    @property
    def exact(self) -> bool:
        """True when nothing differed and something was compared."""
        return bool(self.compared) and self.equal == self.compared

    def lines(self) -> list[str]:
        """The report."""
        rows = [
            f"{arm:<34}{self.equal[arm]:>5} of {count:<5}  drafted {self.drafted[arm]:>7}, "
            f"accepted {self.accepted[arm]:>7}"
            for arm, count in self.compared.items()
        ]
        return rows + [f"differs: {line}" for line in self.differences[:20]]


class Identity:
    """Engines with each thread count on one model; the first one's plain decoding is what the others are held
    against."""

    def __init__(
        self,
        path: Path,
        *,
        threads: Sequence[int] = (1, 2),
        seeds: Sequence[int] = (1, 2),
        lengths: Sequence[int] = LENGTHS,
        max_tokens: int = 64,
        n_ctx: int = 0,
        head: Path | None = None,
    ) -> None:
        self.engines = [open_engine(path, n_ctx=n_ctx, n_threads=count) for count in threads]
        self._small = [open_engine(path, n_ctx=SMALL, n_threads=count) for count in threads]
        for engine in (*self.engines, *self._small):
            if head is not None:
                engine.open_head(head)
        self._head = head
        self._lengths = lengths
        self._max_tokens = max_tokens
        self._samplings = [("greedy", GREEDY)]
        for seed in seeds:
            shape = Sampling(temperature=0.8, seed=seed)
            if seed % 2 == 0:
                shape = Sampling(1.0, top_k=40, top_p=0.95, min_p=0.01, repeat_penalty=1.1, seed=seed)
            self._samplings.append((f"seed {seed}", shape))
        self.tally = Tally()

    def close(self) -> None:
        """Free the engines."""
        for engine in (*self.engines, *self._small):
            engine.close()

    def check(self, question: Question, name: str) -> None:
        """All arms on one prompt, which each engine takes in once."""
        known: dict[str, Answer] = {}
        end: int | None = None
        for engine in self.engines:
            engine.rollback(0)
            engine.prefill(question.tokens)
            for label, sampling in self._samplings:
                found = self._answer(engine, question, sampling, OFF)
                if label not in known:
                    known[label] = found
                    end = end if end is not None else _end_after(engine, question, found)
                plain = known[label]
                where = f"{label}, {engine.n_threads} thread(s)"
                self.tally.note(f"plain, {where}", name, found, *plain.said)
                self._drafts(engine, question, sampling, plain, end, where, name)
        self._context(question, name)

    def _drafts(
        self,
        engine: Engine,
        question: Question,
        sampling: Sampling,
        plain: Answer,
        end: int | None,
        where: str,
        name: str,
    ) -> None:
        arms = [("auto", Drafting("auto")), ("copy", Drafting("copy"))]
        arms += [(f"fixed {length}", Drafting("copy", fixed=length)) for length in self._lengths]
        if self._head is not None:
            arms += [("head", Drafting("head")), ("copy+head", Drafting("copy+head"))]
            for mode in ("head", "copy+head"):
                arms += [(f"{mode} {length}", Drafting(mode, fixed=length)) for length in self._lengths]
        for label, drafting in arms:
            found = self._answer(engine, question, sampling, drafting)
            self.tally.note(f"{label}, {where}", name, found, *plain.said)
        truth = plain.tokens + ([end] if end is not None else [])
        found = self._perfect(engine, question, sampling, truth, self._max_tokens)
        self.tally.note(f"perfect, {where}", name, found, *plain.said)
        limit = len(plain.tokens) * 2 // 3
        if limit:
            found = self._perfect(engine, question, sampling, truth, limit)
            self.tally.note(f"limit, {where}", name, found, plain.tokens[:limit], FinishReason.TOKEN_LIMIT)

    def _context(self, question: Question, name: str) -> None:
        """The end of the prompt in a context with room for a few more tokens only."""
        tokens = (question.tokens * (SMALL // len(question.tokens) + 1))[-(SMALL - 6) :]
        known: dict[str, Answer] = {}
        for engine in self._small:
            engine.rollback(0)
            engine.prefill(tokens)
            for label, sampling in self._samplings[:2]:
                options: dict[str, Any] = {"max_tokens": 99, "sampling": sampling, "prefilled": True}
                found = answer(engine, tokens, **options)
                plain = known.setdefault(label, found)
                where = f"{label}, {engine.n_threads} thread(s)"
                self.tally.note(f"context plain, {where}", name, found, *plain.said)
                drafting = Drafting("copy", fixed=8)
                found = answer(engine, tokens, source=plain.tokens * 3, drafting=drafting, **options)
                self.tally.note(f"context, {where}", name, found, *plain.said)

    def _answer(self, engine: Engine, question: Question, sampling: Sampling, drafting: Drafting) -> Answer:
        return answer(
            engine,
            question.tokens,
            max_tokens=self._max_tokens,
            source=question.source,
            sampling=sampling,
            drafting=drafting,
            prefilled=True,
        )

    def _perfect(
        self, engine: Engine, question: Question, sampling: Sampling, truth: Sequence[int], limit: int
    ) -> Answer:
        assert isinstance(engine, NativeEngine)
        drafter = Scripted([("right", 15)], len(question.tokens), truth, engine.info.n_vocab)
        engine.set_drafter(drafter)  # type: ignore[arg-type]
        try:
            return answer(engine, question.tokens, max_tokens=limit, sampling=sampling, prefilled=True)
        finally:
            engine.set_drafter(None)


def _end_after(engine: Engine, question: Question, found: Answer) -> int | None:
    """The end token that a greedy answer ended with."""
    if found.finish is not FinishReason.END_TOKEN:
        return None
    engine.rollback(len(question.tokens) - 1)
    token = engine.prefill([question.tokens[-1], *found.tokens])
    engine.rollback(len(question.tokens))
    return token if engine.is_end(token) else None


def questions(engine: Engine, entry_prompts: Any, task: str, texts: Sequence[str]) -> Iterator[Question]:
    """The product's prompts around the texts; task free: the texts themselves."""
    if task == "free":
        for text in texts:
            yield Question(engine.tokenize(text, bos=True), [])
        return
    template = template_for(task, entry_prompts, chat=engine.info.has_chat_template)
    prompt = Prompt(engine, template)
    for text in texts:
        flat = " ".join(text.split()) if task == "proofread" else text
        source = prompt.repeated(flat) if task == "proofread" else []
        yield Question(prompt.tokens(flat), source)


def texts_of(path: Path, limit: int | None = None) -> list[str]:
    """The texts of a .jsonl file."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    texts = []
    for record in rows[:limit]:
        text = next((record[key] for key in ("text", "prompt", "source") if key in record), None)
        texts.append(str(record["turns"][0] if text is None else text))
    return texts


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tally."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, help="known model or path of a GGUF file")
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--task", choices=("summarize", "proofread", "free"), default="summarize")
    parser.add_argument("--limit", type=int, help="use the first N texts")
    parser.add_argument("--max-tokens", type=int, default=64)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--seeds", default="1,2")
    parser.add_argument("--lengths", default=",".join(map(str, LENGTHS)))
    parser.add_argument("--ctx", type=int, default=0)
    parser.add_argument("--head", type=Path, help="draft head: adds the arms that have it")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep the tally there and go on from it")
    options = parser.parse_args(arguments)
    wish = " ".join(f"{key}={value}" for key, value in sorted(vars(options).items()) if key != "keep")
    from mtp_cli import catalog

    resolved = catalog.resolve(options.model)

    def numbers(words: str) -> list[int]:
        return [int(word) for word in words.split(",") if word]

    identity = Identity(
        resolved.path,
        threads=numbers(options.threads),
        seeds=numbers(options.seeds),
        lengths=numbers(options.lengths),
        max_tokens=options.max_tokens,
        n_ctx=options.ctx,
        head=options.head,
    )
    if options.keep:
        identity.tally = Tally.read(options.keep, wish)
    prompts = resolved.entry.prompts if resolved.entry else None
    texts = texts_of(options.prompts, options.limit)
    try:
        for number, question in enumerate(questions(identity.engines[0], prompts, options.task, texts), 1):
            if number <= identity.tally.prompts:
                continue
            try:
                identity.check(question, f"prompt {number}")
            except EngineError as error:
                identity.tally.differences.append(f"prompt {number}: {error}")
                identity.tally.compared["errors"] += 1
            identity.tally.prompts = number
            if options.keep:
                identity.tally.write(options.keep, wish)
            if sys.stderr.isatty() or number % 10 == 0:
                print(f"{number} of {len(texts)}", file=sys.stderr)
    except KeyboardInterrupt:
        print(f"interrupted in prompt {number}", file=sys.stderr)
    print("\n".join(identity.tally.lines()))
    identity.close()
    return 0 if identity.tally.exact else 1


if __name__ == "__main__":
    sys.exit(main())
