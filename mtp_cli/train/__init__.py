"""Training a draft head: texts, what the backbone makes of them, the head, its fit and its file."""
