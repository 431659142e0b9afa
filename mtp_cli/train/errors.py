"""What goes wrong while a head is trained."""

from __future__ import annotations

from mtp_cli.exits import UserError


class TrainError(UserError):
    """A fault of the training steps that a person can put right; the message is one line."""
