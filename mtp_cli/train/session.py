"""One training from text to head file: stages whose results are on disk, so that it goes on where it stopped.

The folder of a training holds prompts.jsonl, answers.jsonl, features/, start.pt, checkpoint.pt and
progress.json (seconds spent by stage). Stages: texts, answers, features, start, fit, export."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtp_cli.train.errors import TrainError

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from mtp_cli.engine_native import NativeEngine
    from mtp_cli.train.answers import Answer
    from mtp_cli.train.data import Data
    from mtp_cli.train.fit import Fit
    from mtp_cli.train.head import DraftHead
    from mtp_cli.train.prompt_texts import PromptText, Task

ANSWER_SHARE = 0.35
"""Of the time, what goes into answers; the rest is left to the features and the fit."""
FEATURE_SHARE = 0.15
SOURCES = 4
DRAFT_GROUPS = 768
"""Groups of 8 tokens in the draft vocabulary."""
START_TOKENS = 9000
"""Tokens that the least squares at the start look at."""
CURVE_POINTS = 8
CURVE_TEXTS = 24
"""Held-out texts of a task that a point of the learning curve looks at."""
OUTLOOK_PLACES = 60_000
"""Places in answers that the outlook net learns from."""
FEWEST = 24
"""Answers that a head can be made from at all."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What to train. `layers` (): measured. `n_ff` 0: the backbone's, at most 1536."""

    model: Path
    name: str
    folder: Path
    output: Path
    texts: Sequence[Path]
    tasks: Sequence[Task]
    minutes: float
    layers: Sequence[int] = ()
    n_ff: int = 0
    threads: int = 0
    seed: int = 0
    offline: bool = False

    def stamp(self, fingerprint: str) -> dict[str, Any]:
        """What a work folder belongs to."""
        texts = [str(path) for path in self.texts]
        return {
            "model": fingerprint,
            "texts": texts,
            "tasks": list(self.tasks),
            "layers": list(self.layers),
            "width": self.n_ff,
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a training stands. `left`: seconds until its end, about."""

    stage: str
    done: float
    total: float
    left: float
    note: str = ""


@dataclass(slots=True)
class Spent:
    """Seconds by stage, kept in progress.json."""

    path: Path
    seconds: dict[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Spent:
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            return cls(path, {str(k): float(v) for k, v in found.items()})
        except (OSError, ValueError, AttributeError):
            return cls(path)

    def add(self, stage: str, seconds: float) -> None:
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self.seconds), encoding="utf-8")
        part.rename(self.path)

    def of(self, stage: str) -> float:
        return self.seconds.get(stage, 0.0)


@dataclass(frozen=True, slots=True)
class Trained:
    """The result: head file and what it does on held-out answers, by task."""

    path: Path
    tokens_per_pass: dict[str, float]
    right: dict[str, list[float]]
    answer_tokens: int
    visits: int
    curve: list[dict[str, float]]


class Training:
    """Runs the stages. `tell` hears Progress."""

    def __init__(self, wish: Wish, engine: NativeEngine, tell: Callable[[Progress], None]) -> None:
        self._wish = wish
        self._engine = engine
        self._tell = tell
        wish.folder.mkdir(parents=True, exist_ok=True)
        self._claim(wish.folder / "training.json")
        self._spent = Spent.read(wish.folder / "progress.json")
        self._budget = 60 * wish.minutes

    def _claim(self, path: Path) -> None:
        """A folder goes on with the training that it was begun for, and with no other."""
        stamp = self._wish.stamp(self._engine.fingerprint)
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            part = path.with_suffix(".part")
            part.write_text(json.dumps(stamp), encoding="utf-8")
            part.rename(path)
            return
        if found != stamp:
            raise TrainError(
                f"{path.parent} holds another training (another model, text, task, layers, width or seed); "
                "give another folder with --work, or delete it"
            )

    def run(self) -> Trained:
        """All stages that are not done yet. Raises TrainError, EngineError, KeyboardInterrupt."""
        texts = self._texts()
        answers = self._answers(texts)
        layers = self._layers([item.text for item in texts])
        data = self._features(answers, layers)
        return self._fit(data, answers, layers)

    def _left(self) -> float:
        return max(0.0, self._budget - sum(self._spent.seconds.values()))

    def _say(self, stage: str, done: float, total: float, note: str = "") -> None:
        self._tell(Progress(stage, done, total, self._left(), note))

    def _texts(self) -> list[PromptText]:
        from mtp_cli.train.prompt_texts import Limits, PromptText, collect

        path = self._wish.folder / "prompts.jsonl"
        if path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()
            return [PromptText(**json.loads(line)) for line in lines]
        self._say("texts", 0, 1)
        begun = time.monotonic()
        documents, weights = self._documents()
        found = collect(documents, list(self._wish.tasks), self._wish.seed, Limits(weights=weights))
        if len(found) < FEWEST:
            raise TrainError(
                f"{len(found)} usable passages are too few to train on; give more text with --text"
            )
        part = path.with_suffix(".part")
        part.write_text("".join(json.dumps(asdict(item)) + "\n" for item in found), encoding="utf-8")
        part.rename(path)
        self._spent.add("texts", time.monotonic() - begun)
        return found

    def _documents(self) -> tuple[list[Any], dict[str, float]]:
        from mtp_cli.catalog.cache import cache_dir
        from mtp_cli.train.corpora import gather, load_corpora
        from mtp_cli.train.texts import read_texts

        if self._wish.texts:
            return list(read_texts(list(self._wish.texts))), {}
        corpora = load_corpora()
        folder = cache_dir() / "corpora"
        wanted = list(corpora.values())
        if self._wish.offline:
            wanted = [one for one in wanted if (folder / f"{one.name}-{one.version}").is_dir()]
            if not wanted:
                raise TrainError("no text to train on is on this machine; give some with --text")
        documents, notes = gather(wanted, folder)
        if not documents:
            raise TrainError(f"no text to train on could be had ({notes[0]}); give some with --text")
        for note in notes:
            self._say("texts", 0, 1, note)
        return list(documents), {corpus.name: corpus.weight for corpus in corpora.values()}

    def _answers(self, texts: Sequence[PromptText]) -> list[Answer]:
        from mtp_cli.train.answers import Answerer, read_answers, write_answers
        from mtp_cli.train.features import FEWEST_IDS

        path = self._wish.folder / "answers.jsonl"
        done = read_answers(path)
        allowed = ANSWER_SHARE * self._budget
        begun = time.monotonic()
        before = self._spent.of("answers")
        if before < allowed and len(done) < len(texts):
            answerer = Answerer(self._engine, self._wish.model)
            for answer in write_answers(answerer, texts, path, len(done)):
                done.append(answer)
                now = time.monotonic()
                self._spent.add("answers", now - begun)
                begun = now
                tokens = sum(len(one.ids) for one in done[-50:]) / min(50, len(done)) * len(done)
                self._say("answers", self._spent.of("answers"), allowed, f"{tokens:,.0f} tokens")
                if self._spent.of("answers") >= allowed:
                    break
        usable = [one for one in done if len(one.ids) >= FEWEST_IDS]
        if sum(one.split == "train" for one in usable) < FEWEST:
            raise TrainError(
                f"{len(usable)} answers are too few to train on; give it more --minutes, or more text"
            )
        return done

    def _layers(self, texts: Sequence[str]) -> list[int]:
        from mtp_cli.train.layers import choose_layers, repeats, score_layers

        if self._wish.layers:
            return list(self._wish.layers)
        path = self._wish.folder / "layers.json"
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            return [int(layer) for layer in json.loads(path.read_text(encoding="utf-8"))["chosen"]]
        self._say("layers", 0, 1)
        begun = time.monotonic()
        repeated = repeats(self._engine, texts)
        if not repeated:
            raise TrainError("the texts are too short to choose layers by; name some with --layers")
        scores = score_layers(self._engine, repeated)
        chosen = choose_layers(scores, min(SOURCES, self._engine.info.n_layer))
        part = path.with_suffix(".part")
        part.write_text(json.dumps({"chosen": chosen, **asdict(scores)}), encoding="utf-8")
        part.rename(path)
        self._spent.add("layers", time.monotonic() - begun)
        return chosen

    def _features(self, answers: Sequence[Answer], layers: Sequence[int]) -> Data:
        from mtp_cli.train.backbone import BackboneFile
        from mtp_cli.train.data import Data
        from mtp_cli.train.features import FeatureStore

        name = "features-" + "-".join(map(str, layers))
        store = FeatureStore(self._wish.folder / name, layers)
        begun = time.monotonic()
        for done in store.write(self._engine, self._wish.model, answers):
            now = time.monotonic()
            self._spent.add("features", now - begun)
            begun = now
            self._say("features", done, len(answers))
        shape = BackboneFile(self._wish.model).shape(layers, 32)
        return Data(store, shape.n_head_kv)

    def _fit(self, data: Data, answers: Sequence[Answer], layers: Sequence[int]) -> Trained:
        from mtp_cli.train.backbone import BackboneFile
        from mtp_cli.train.export import draft_groups, write_head
        from mtp_cli.train.head import DraftHead
        from mtp_cli.train.outlook import fit_outlook

        wish = self._wish
        file = BackboneFile(wish.model)
        shape = file.shape(layers, wish.n_ff or min(file.n_ff, 1536))
        embedding, output = file.embedding(), file.output()
        counts = data.counts(output.shape[0])
        groups = draft_groups(counts, DRAFT_GROUPS)
        ranked = _ranked(counts, groups)
        head = DraftHead(shape)
        fit = self._loop(head, data, answers, embedding, output, ranked, file)
        scores = self._held_out(head, data, embedding, output, ranked)
        self._say("outlook", 0, 1)
        outlook, _ = fit_outlook(head, data, embedding, output, ranked, OUTLOOK_PLACES)
        record: dict[str, str | int | float] = {
            "tasks": ",".join(wish.tasks),
            "answer_tokens": data.answer_tokens(),
            "visits": fit.state.visits,
            "steps": fit.state.step,
            "minutes": float(wish.minutes),
            "seed": wish.seed,
            "sources": ",".join(sorted({answer.source for answer in answers})),
            "time": time.strftime("%Y-%m-%d", time.gmtime()),
        }
        for task, found in scores.items():
            record[f"{task}.tokens_per_pass"] = float(found.tokens_per_pass)
        wish.output.parent.mkdir(parents=True, exist_ok=True)
        write_head(
            wish.output,
            head,
            fingerprint=self._engine.fingerprint,
            backbone=wish.name,
            groups=groups,
            record=record,
            outlook=outlook,
        )
        return Trained(
            wish.output,
            {task: found.tokens_per_pass for task, found in scores.items()},
            {task: found.right for task, found in scores.items()},
            data.answer_tokens(),
            fit.state.visits,
            fit.state.curve,
        )

    def _loop(
        self,
        head: DraftHead,
        data: Data,
        answers: Sequence[Answer],
        embedding: Tensor,
        output: Tensor,
        ranked: Tensor,
        file: Any,
    ) -> Fit:
        import torch

        from mtp_cli.train.fit import Fit, Plan

        torch.manual_seed(self._wish.seed)
        torch.set_num_threads(self._engine.n_threads)
        checkpoint = self._wish.folder / "checkpoint.pt"
        others = sum(v for stage, v in self._spent.seconds.items() if stage != "fit")
        fit = Fit(
            head,
            data,
            embedding,
            output,
            ranked,
            Plan(max(30.0, self._budget - others), seed=self._wish.seed),
        )
        if checkpoint.exists():
            fit.load(checkpoint)
        else:
            self._say("start", 0, 1)
            begun = time.monotonic()
            self._begin(head, data, answers, embedding, file)
            self._spent.add("start", time.monotonic() - begun)
            fit.save(checkpoint)
        try:
            for report in self._steps(fit, checkpoint):
                self._spent.add("fit", max(0.0, report["seconds"] - self._spent.of("fit")))
                note = f"loss {report['loss']:.2f}, right " + " ".join(
                    f"{report[key]:.2f}" for key in sorted(report) if key.startswith("right_")
                )
                self._say("fit", report["seconds"], fit.plan.seconds, note)
                self._note_curve(fit, data, embedding, output, ranked)
        except KeyboardInterrupt:
            fit.save(checkpoint)
            raise
        return fit

    def _note_curve(self, fit: Fit, data: Data, embedding: Tensor, output: Tensor, ranked: Tensor) -> None:
        """Now and then, how good the head is by now on a few held-out texts."""
        from mtp_cli.train.measure import score

        points = fit.state.curve
        due = fit.plan.seconds * len(points) / CURVE_POINTS
        if fit.state.seconds < due:
            return
        point: dict[str, float] = {"visits": float(fit.state.visits), "seconds": fit.state.seconds}
        for task in self._wish.tasks:
            found = score(fit.head, data, task, embedding, output, ranked, most=CURVE_TEXTS)
            point[f"held_out.{task}"] = found.tokens_per_pass
        points.append(point)

    def _steps(self, fit: Fit, checkpoint: Path) -> Iterator[dict[str, float]]:
        if fit.state.seconds >= fit.plan.seconds:
            return iter(())
        return fit.run(checkpoint)

    def _begin(
        self, head: DraftHead, data: Data, answers: Sequence[Answer], embedding: Tensor, file: Any
    ) -> None:
        import random

        from mtp_cli.bench.prompts import asked
        from mtp_cli.engine_native import copy_guesses
        from mtp_cli.train.start import LeastSquares, observe, start_head, temper

        shape, last, engine = head.shape, file.n_layer - 1, self._engine
        layers = [*shape.sources, *([last] if last not in shape.sources else [])]
        squares = LeastSquares(3 * shape.n_embd)
        seen = 0
        for answer in answers:
            if seen > START_TOKENS:
                break
            question = asked(engine, answer.text, answer.task, self._wish.model)
            ids = question.tokens + answer.ids
            engine.rollback(0)
            hidden, inputs, _ = engine.capture(ids, layers)
            guess, kind = copy_guesses(question.tokens, question.source, answer.ids)
            observe(squares, ids, embedding, hidden, inputs, guess, kind, layers, last, shape)
            seen += len(ids)
        start_head(head, file, squares)
        if file.has("blk.0.post_ffw_norm.weight"):
            temper(head, next(data.batches(400, random.Random(self._wish.seed), 0.2)), embedding)

    def _held_out(
        self, head: DraftHead, data: Data, embedding: Tensor, output: Tensor, ranked: Tensor
    ) -> dict[str, Any]:
        from mtp_cli.train.measure import score

        self._say("held-out texts", 0, 1)
        return {
            task: score(head, data, task, embedding, output, ranked)
            for task in self._wish.tasks
            if any(item.row.task == task for item in data.items["heldout"])
        }


def _ranked(counts: np.ndarray, groups: Sequence[int]) -> Tensor:
    """The tokens of the draft vocabulary, most frequent first."""
    import numpy as np
    import torch

    members = np.array([group * 8 + i for group in groups for i in range(8)])
    members = members[members < len(counts)]
    order = np.argsort(-counts[members], kind="stable")
    return torch.from_numpy(members[order])
