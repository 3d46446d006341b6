"""Solutions of equations as differentiable functions of what is in the equations.

A root, a fixed point, a minimum or the solution of a linear system is found by any solver, and its derivative comes
from the implicit function theorem: by one linear system, and not through the steps of the solver.  It has all orders,
forward mode, and a formula.  Solutions of differential equations are differentiated through their steps, or by the
adjoint equation.
"""

from __future__ import annotations

from symgrad.implicit.adjoints import Adjoint
from symgrad.implicit.calls import argmin, fixed_point, root, solve
from symgrad.implicit.odes import odeint
from symgrad.implicit.theorem import Theorem, theorem

__all__ = ["Adjoint", "Theorem", "argmin", "fixed_point", "odeint", "root", "solve", "theorem"]
