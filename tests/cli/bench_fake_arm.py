"""A worker without a model: `python bench_fake_arm.py NAME [BEHAVIOUR]`.

Tokens are the code points of the text. The answer to a prompt is the prompt backwards, so any two honest
arms agree. Behaviours break one thing each.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from mtp_cli.bench.protocol import KIND_MISSING, KIND_MODEL, ArmError, main

STEP = {"plain": 0.0005, "reference": 0.001}


class FakeArm:
    def __init__(self, name: str, behaviour: str) -> None:
        self.step = STEP[name]
        self.behaviour = behaviour
        self.calls = 0

    def open(self, model: str, n_ctx: int, threads: int) -> dict[str, Any]:
        if self.behaviour == "no-model":
            raise ArmError("the file is damaged", KIND_MODEL)
        if self.behaviour == "missing":
            raise ArmError("not installed", KIND_MISSING)
        used = 7 if self.behaviour == "threads" else threads or 2
        info = {"architecture": "fake", "file_bytes": 1000, "n_ctx_train": 2000, "kernel": "none"}
        return {"threads": used, "n_ctx": n_ctx or 2000, "info": info}

    def prompts(self, texts: list[str], task: str, model: str) -> dict[str, Any]:
        return {"tokens": [[ord(letter) for letter in text] for text in texts]}

    def answer(self, text: str, task: str, model: str) -> dict[str, Any]:
        return {"tokens": [ord(letter) for letter in text], "generated_tokens": 3}

    def generate(self, tokens: list[int], max_tokens: int) -> dict[str, Any]:
        self.calls += 1
        if self.behaviour == "dies" and self.calls == 3:
            print("something broke here", file=sys.stderr, flush=True)
            os._exit(9)
        if self.behaviour == "hangs" and self.calls == 3:
            time.sleep(600)
        if self.behaviour == "prints":
            print("noise on stdout", flush=True)
        ids = tokens[::-1][:max_tokens]
        if self.behaviour == "differs" and len(ids) > 4:
            ids = [*ids[:4], ids[4] + 1, *ids[5:]]
        if self.behaviour == "silent":
            ids = []
        return {
            "ids": ids,
            "text": "".join(map(chr, ids)),
            "passes": max(len(ids) - 1, 0),
            "prefill_s": self.step * len(tokens),
            "decode_s": self.step * 4 * len(ids),
            "first_token_s": self.step * len(tokens) if ids else None,
        }

    def prefill(self, tokens: list[int]) -> dict[str, Any]:
        return {"seconds": self.step * len(tokens)}

    def cost_begin(self, tokens: list[int]) -> dict[str, Any]:
        return {}

    def cost(self, width: int, repeats: int) -> dict[str, Any]:
        if self.behaviour == "raises":
            raise ValueError("a bug")
        return {"ms": [1e3 * self.step * (3 + width)] * repeats}

    def close(self) -> None:
        pass


if __name__ == "__main__":
    main(FakeArm(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""))
