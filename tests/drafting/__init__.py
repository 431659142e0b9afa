"""Drafting: exactness, and its parts one by one."""
