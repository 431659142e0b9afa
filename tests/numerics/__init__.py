"""Numerics tests: the engine against llama.cpp, against an f32 evaluation, and bitwise against itself."""
