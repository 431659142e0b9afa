"""How good results are: scores against references, for comparing models and prompts."""
