"""mtp: summarise and proofread text with a small language model on this machine's CPU."""

__version__ = "0.1.0"
