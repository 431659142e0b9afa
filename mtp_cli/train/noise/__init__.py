"""Errors as people make them, put into correct sentences: what proofreading is trained on."""

from mtp_cli.train.noise.inject import add_errors

__all__ = ["add_errors"]
