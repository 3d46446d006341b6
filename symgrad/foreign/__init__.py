"""Programs that were written for another library, as functions of this one.

A jaxpr or a graph of torch.fx becomes a straight list of operations of the op table, inlined and without what nothing
reads.  Gradients, formulas and compiled programs follow as for every function.
"""

from symgrad.foreign.graphs import ImportedModule, from_fx
from symgrad.foreign.jaxprs import from_jax, from_jaxpr
from symgrad.foreign.steps import ImportedFunction

__all__ = ["ImportedFunction", "ImportedModule", "from_fx", "from_jax", "from_jaxpr"]
