"""A worker without a model: `python bench_fake_arm.py NAME [BEHAVIOUR]`.

Tokens are the code points of the text. The answer to a prompt is the prompt backwards (of a proofread text:
the text), so any two honest arms agree; a seed rotates it. A pass over k tokens takes 4 + 0.4 (k - 1) steps;
an arm that drafts gets one of its drafts right in each pass. Behaviours break one thing each.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from mtp_cli.bench.protocol import KIND_MISSING, KIND_MODEL, ArmError, main

STEP = {"native": 0.0005, "reference": 0.001}


class FakeArm:
    def __init__(self, name: str, behaviour: str) -> None:
        self.step = STEP[name]
        self.behaviour = behaviour
        self.calls = 0

    def open(self, model: str, n_ctx: int, threads: int, head: str | None = None) -> dict[str, Any]:
        if self.behaviour == "no-model":
            raise ArmError("the file is damaged", KIND_MODEL)
        if self.behaviour == "missing":
            raise ArmError("not installed", KIND_MISSING)
        used = 7 if self.behaviour == "threads" else threads or 2
        info = {"architecture": "fake", "file_bytes": 1000, "n_ctx_train": 2000, "kernel": "none"}
        return {"threads": used, "n_ctx": n_ctx or 2000, "info": info}

    def prompts(self, texts: list[str], tasks: list[str], model: str) -> dict[str, Any]:
        tokens = [[ord(letter) for letter in text] for text in texts]
        sources = [ids if task == "proofread" else [] for ids, task in zip(tokens, tasks, strict=True)]
        stops = [["."] if task == "proofread" else [] for task in tasks]
        return {"tokens": tokens, "sources": sources, "stops": stops}

    def answer(self, text: str, task: str, model: str) -> dict[str, Any]:
        return {"tokens": [ord(letter) for letter in text], "generated_tokens": 3}

    def generate(
        self,
        tokens: list[int],
        max_tokens: int,
        stops: Sequence[str] = (),
        source: Sequence[int] = (),
        sampling: Mapping[str, Any] | None = None,
        drafting: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        self.calls += 1
        if self.behaviour == "dies" and self.calls == 3:
            print("something broke here", file=sys.stderr, flush=True)
            os._exit(9)
        if self.behaviour == "hangs" and self.calls == 3:
            time.sleep(600)
        if self.behaviour == "prints":
            print("noise on stdout", flush=True)
        how = dict(drafting or {"mode": "off"})
        ids = list(source or tokens[::-1])
        if sampling and sampling["temperature"] > 0:
            by = sampling["seed"] % max(len(ids), 1)
            ids = ids[by:] + ids[:by]
        ids = ids[:max_tokens]
        for at, token in enumerate(ids):
            if chr(token) in stops:
                ids = ids[: at + 1]
        if self._wrong(how) and len(ids) > 4:
            ids = [*ids[:4], ids[4] + 1, *ids[5:]]
        if self.behaviour == "silent":
            ids = []
        return {
            "ids": ids,
            "text": "".join(map(chr, ids)),
            "prefill_s": self.step * len(tokens),
            "first_token_s": self.step * len(tokens) if ids else None,
            **self._passes(len(ids), how),
        }

    def _wrong(self, how: Mapping[str, Any]) -> bool:
        if self.behaviour == "drafts-wrong":
            return bool(how["mode"] != "off" and self.calls > 3)
        return self.behaviour == "differs" or how.get("alpha", 0) > 0.25

    def _passes(self, tokens: int, how: Mapping[str, Any]) -> dict[str, Any]:
        """The first token needs no pass; a drafting arm's passes give two tokens each."""
        if how["mode"] == "off":
            passes = max(tokens - 1, 0)
            return {
                "passes": passes,
                "decode_s": self.step * 4 * tokens,
                "tokens_by_source": {},
                "drafts": {},
            }
        width = how.get("fixed", 1)
        passes = max(tokens - 1, 0) // 2
        positions = [[passes, passes], [passes, 0]][: min(width, 2)]
        copied = {
            "drafted": sum(tested for tested, _ in positions),
            "accepted": passes,
            "lenient": passes if how.get("alpha", 0) > 0.25 else 0,
            "positions": positions,
        }
        return {
            "passes": passes,
            "decode_s": self.step * (4 + 0.4 * width) * max(passes, 1),
            "tokens_by_source": {"backbone": tokens - passes, "copy": passes},
            "drafts": {"copy": copied} if passes else {},
        }

    def prefill(self, tokens: list[int]) -> dict[str, Any]:
        return {"seconds": self.step * len(tokens)}

    def cost_begin(self, tokens: list[int]) -> dict[str, Any]:
        return {}

    def cost(self, width: int, repeats: int) -> dict[str, Any]:
        if self.behaviour == "raises":
            raise ValueError("a bug")
        return {"ms": [1e3 * self.step * (3 + width)] * repeats}

    def oracle(self, tokens: list[int], source: list[int], ids: list[int]) -> dict[str, Any]:
        passes = (len(ids) - 1) // 3
        return {"passes": passes, "seconds": passes * self.step * 4.8, "pass_s": self.step * 4}

    def priced(
        self,
        tokens: list[int],
        source: list[int],
        stops: list[str],
        max_tokens: int,
        drafting: dict[str, Any],
        extra_column: float,
    ) -> dict[str, Any]:
        return {"passes": 4, "seconds": self.step * 5, "tokens": 9, "pass_s": self.step * 1.25}

    def verify(self, tokens: list[int], ids: list[int], width: int) -> dict[str, Any]:
        return {"differing": [2, 3] if tokens[0] == ord("h") and width == 4 else []}

    def close(self) -> None:
        pass


if __name__ == "__main__":
    main(FakeArm(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""))
