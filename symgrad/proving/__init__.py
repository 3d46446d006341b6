"""Proving the op table: every rule against the definition of its op, every law, every dtype, through every back end.

``samples`` and ``making`` give operands, ``laws`` say what holds in floats, ``exact`` compares rules with definitions,
in SymPy's symbols and at fifty digits, ``points`` looks at kinks and ends, and ``in_c`` at programs in C.  ``prove``
runs them all: it is ``python -m symgrad rules --prove``, and the suite of the table runs the same laws one by one.
"""
