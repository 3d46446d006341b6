# ruff: noqa: N999  (torch's name)
"""Names of torch's C++ part that Python code for torch reaches for: how classes switch ``__torch_function__`` off."""

from symgrad.tape import overriding

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass", "_disabled_torch_function_impl"]

DisableTorchFunction = DisableTorchFunctionSubclass = overriding.disabled
_disabled_torch_function_impl = overriding.not_overriding
