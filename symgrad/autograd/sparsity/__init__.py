"""Sparse Jacobians: which entries can be nonzero, in how few passes they can be computed, and the compressed result.

:mod:`relations` reads from an op's entry which entries of an operand each entry of the result depends on, and
:mod:`walk` carries that through a recorded graph to a :class:`Pattern`.  :mod:`colours` finds rows and columns that may
share a pass, and :mod:`matrix` holds what comes out.
"""
