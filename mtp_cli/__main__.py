"""`python -m mtp_cli` is the same as `mtp`."""

from __future__ import annotations

from mtp_cli.entry import main

if __name__ == "__main__":
    main()
