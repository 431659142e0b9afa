"""A minimal llama-cpp-python script: `startup_script.py MODEL THREADS MAX_TOKENS`, token ids on stdin.

It stands for what a person would write; nothing of this package is imported.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def main() -> None:
    from llama_cpp import Llama

    model, threads, max_tokens = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    tokens = json.load(sys.stdin)
    llama = Llama(
        model,
        n_ctx=max(512, len(tokens) + max_tokens + 8),
        n_threads=threads,
        n_threads_batch=threads,
        verbose=False,
    )
    answer: Any = llama.create_completion(tokens, max_tokens=max_tokens, temperature=0.0)
    print(answer["choices"][0]["text"])


if __name__ == "__main__":
    main()
