"""`mtp bench`: the same prompts through several arms, each in its own process, taking turns."""
