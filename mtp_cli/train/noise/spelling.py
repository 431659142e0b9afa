"""Slips of the fingers, and spelling by ear."""

from __future__ import annotations

import random

from mtp_cli.train.noise.edit import Words, is_plain, pick, put, split_word
from mtp_cli.train.noise.word_tables import read_table

_VOWELS = "aeiou"
_NEIGHBOUR_KEYS = read_table(
    """
q: w, a | w: q, e, s | e: w, r, d | r: e, t, f | t: r, y, g | y: t, u, h | u: y, i, j | i: u, o, k
o: i, p, l | p: o, l | a: q, s, z | s: a, d, w, x | d: s, f, e, c | f: d, g, r, v | g: f, h, t, b
h: g, j, y, n | j: h, k, u, m | k: j, l, i, n | l: k, o, p | z: x, a, s | x: z, c, s, d
c: x, v, d, f | v: c, b, f, g | b: v, n, g, h | n: b, m, h, j | m: n, j, k
"""
)
_SOUNDS = read_table(
    """
ie: ei | ei: ie | ou: o | ph: f | sc: s | ck: k | ea: e | ence: ance | ance: ence | tion: sion
able: ible | ible: able | ent: ant | ant: ent | ful: full | ly: ley | er: ar | or: er | wh: w
qu: q
"""
)


def typo(words: Words, rng: random.Random) -> bool:
    """Letters swapped, left out or doubled, or a key beside the right one; the first letter stays."""
    place = pick(words, rng, lambda _, core: is_plain(core))
    if place is None:
        return False
    core = split_word(words[place])[1]
    at = rng.randrange(1, len(core) - 1)
    near = rng.choice(_NEIGHBOUR_KEYS[core[at].lower()])
    swapped = core[:at] + core[at + 1] + core[at] + core[at + 2 :]
    dropped = core[:at] + core[at + 1 :]
    doubled = core[:at] + core[at] + core[at:]
    pressed = core[:at] + near + core[at + 1 :]
    return put(words, place, rng.choices((swapped, dropped, doubled, pressed), (4, 3, 2, 2))[0])


def by_ear(words: Words, rng: random.Random) -> bool:
    """A vowel for another, ie for ei, one letter for two."""
    place = pick(words, rng, lambda _, core: is_plain(core) and len(core) >= 5)
    if place is None:
        return False
    core = split_word(words[place])[1]
    inner = range(2, len(core) - 1)
    forms = [core[:at] + core[at + 1 :] for at in range(1, len(core)) if core[at] == core[at - 1]]
    forms += [
        core[0] + core[1:].replace(sound, other, 1)
        for sound, others in _SOUNDS.items()
        for other in others
        if sound in core[1:]
    ]
    forms += [core[:at] + rng.choice(_VOWELS) + core[at + 1 :] for at in inner if core[at] in _VOWELS]
    return bool(forms) and put(words, place, rng.choice(forms))
