"""What a person sees besides the result: on stderr, and only there."""
