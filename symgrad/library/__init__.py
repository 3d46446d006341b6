"""torch.library for code that asks for it: operators of users, and the gradients that they are given.

>>> import symgrad as sg
>>> @sg.library.custom_op("doc::plus_one", mutates_args=())
... def plus_one(x: sg.Tensor) -> sg.Tensor:
...     return x + 1
>>> sg.ops.doc.plus_one(sg.tensor(1.0))
tensor(2.)
"""

from symgrad.library.checking import infer_schema, opcheck
from symgrad.library.declared import Library, define, impl
from symgrad.library.operators import (
    CustomOpDef,
    custom_op,
    register_autograd,
    register_fake,
    register_kernel,
    register_vmap,
)

__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "impl", "infer_schema", "opcheck", "register_autograd",
    "register_fake", "register_kernel", "register_vmap",
]  # fmt: skip
