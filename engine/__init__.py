"""The game of Pyramid, pure: cards, rules, positions, games, solver and pool.

Invariant: nothing in this package imports anything but the standard library, reads a clock,
starts a thread or uses global randomness.  (The command line, ``engine.__main__``, may.)
"""
