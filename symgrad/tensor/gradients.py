"""The gradient of a tensor: ``.grad``, the dtype it may have, and the hooks that see it come."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from symgrad.dtype_objects import KINDS
from symgrad.dtypes import as_dtype, c_name, torch_name
from symgrad.errors import ArgumentError, AutogradError
from symgrad.notices import notice
from symgrad.tape.backward.tether import held, loosen
from symgrad.tape.record import Recorded


class Gradients(Recorded):
    """The part of a tensor that holds its gradient."""

    __slots__ = ()

    @property
    def grad(self) -> Any:
        """The accumulated gradient: None until a backward pass reaches this leaf.

        >>> import symgrad as sg
        >>> x = sg.tensor([1.0, 2.0], requires_grad=True)
        >>> (x**2).sum().backward()
        >>> x.grad
        tensor([2., 4.])
        """
        extra = self._extra
        found = None if extra is None else extra.grad
        if found is None and self._requires_grad and self._node is not None and not self.retains_grad:
            notice(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
                "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated for "
                "a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by "
                "mistake, make sure you access the leaf Tensor instead."
            )
        return found

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None:
            if not isinstance(value, Gradients):
                raise ArgumentError(
                    f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
                )
            if value is self:
                raise AutogradError("can't assign Variable as its own grad")
            wanted = self._landing()
            if wanted is not None and value._value.dtype != wanted:
                raise AutogradError(
                    f"attempting to assign a gradient with dtype '{c_name(value._value.dtype)}' to a tensor with "
                    f"grad_dtype '{torch_name(wanted)}'. The gradient must match the tensor's grad_dtype (defaults to "
                    "the tensor's dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None "
                    "to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its "
                    "gradient may break downstream systems that assume they match."
                )
            if value._value.shape != self._value.shape:
                raise AutogradError(
                    f"attempting to assign a gradient of size '{list(value._value.shape)}' to a tensor of size "
                    f"'{list(self._value.shape)}'. Please ensure that the gradient and the tensor are the same size"
                )
        self.more().grad = value
        if value is not None and held(self) is not self:
            loosen([value])

    @grad.deleter
    def grad(self) -> None:
        self.more().grad = None

    def _landing(self) -> Any:
        """The dtype that this tensor's gradients are cast to; None for any."""
        chosen = None if self._extra is None else self._extra.grad_dtype
        return self._value.dtype if chosen is None else chosen[0]

    @property
    def grad_dtype(self) -> Any:
        """The dtype of this leaf's gradient: its own unless set to another; None lets a gradient keep what it has.

        >>> import symgrad as sg
        >>> x = sg.tensor([1.0, 2.0], requires_grad=True)
        >>> x.grad_dtype = sg.float64
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.], dtype=float64)
        """
        if self._node is not None and self._requires_grad:
            raise AutogradError("grad_dtype can only be accessed on leaf tensors.")
        return self._landing()

    @grad_dtype.setter
    def grad_dtype(self, value: Any) -> None:
        if self._node is not None and self._requires_grad:
            raise AutogradError("grad_dtype can only be set on leaf tensors.")
        if value is not None and not isinstance(value, KINDS):
            raise AutogradError(f"grad_dtype must be a torch.dtype or None, but got {type(value).__name__}")
        value, extra = None if value is None else as_dtype(value), self.more()
        if value is not None and extra.grad is not None and extra.grad._value.dtype != value:
            raise AutogradError(
                f"Cannot set grad_dtype to '{torch_name(value)}' because there is already a gradient with dtype "
                f"'{c_name(extra.grad._value.dtype)}'. Please clear the gradient (.grad = None) before changing "
                "grad_dtype, or ensure the new grad_dtype matches the existing gradient's dtype."
            )
        extra.grad_dtype = (value,)

    @property
    def retains_grad(self) -> bool:
        """Whether this non-leaf keeps its gradient.

        >>> import symgrad as sg
        >>> y = sg.ones(2, requires_grad=True) * 2
        >>> y.retain_grad()
        >>> y.retains_grad
        True
        """
        return self._extra is not None and self._extra.retains

    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in ``.grad``; no effect on a leaf.

        >>> import symgrad as sg
        >>> x = sg.tensor([1.0, 2.0], requires_grad=True)
        >>> y = x * 3
        >>> y.retain_grad()
        >>> (y * y).sum().backward()
        >>> y.grad
        tensor([ 6., 12.])
        """
        if not self._requires_grad:
            raise AutogradError("can't retain_grad on Tensor that has requires_grad=False")
        if self._node is not None and getattr(self._node, "recorded", True):  # a view cut out unrecorded was a leaf
            from symgrad.autograd.graphs.hooks import retain

            retain(self)

    def register_hook(self, hook: Callable[[Any], Any]) -> Any:
        """Call ``hook(grad)`` whenever the gradient is computed; its result, if any, replaces it.

        Returns a handle with ``remove()``.  Raises ``RuntimeError`` for a tensor that requires no grad.

        >>> import symgrad as sg
        >>> x = sg.tensor([1.0, -5.0], requires_grad=True)
        >>> handle = x.register_hook(lambda grad: grad.clamp(-1, 1))
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([ 1., -1.])
        >>> handle.remove()
        """
        from symgrad.autograd.graphs.hooks import register_tensor_hook

        return register_tensor_hook(self, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], None]) -> Any:
        """Call ``hook(leaf)`` whenever a backward pass has added to this leaf's ``.grad``.

        >>> import symgrad as sg
        >>> x = sg.tensor([1.0, 2.0], requires_grad=True)
        >>> handle = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad.tolist()))
        >>> (x * x).sum().backward()
        [2.0, 4.0]
        """
        from symgrad.autograd.graphs.hooks import register_post_accumulate

        return register_post_accumulate(self, hook)

    @property
    def _backward_hooks(self) -> Any:
        """The hooks on this tensor by number; None where there are none."""
        extra: Any = self._extra if self._node is None else self._node.extra
        if extra is None or (not extra.hooks and extra.hooks.__class__ is dict):
            return None
        return extra.hooks

    @_backward_hooks.setter
    def _backward_hooks(self, hooks: Any) -> None:
        (self if self._node is None else self._node).more().hooks = {} if hooks is None else hooks

    @_backward_hooks.deleter
    def _backward_hooks(self) -> None:
        raise AutogradError("Deletion of _backwards_hooks not allowed!")

    @property
    def _grad_fn(self) -> Any:
        """The old name of ``grad_fn``."""
        from symgrad.autograd.graph import node_of

        return node_of(self)

    @_grad_fn.deleter
    def _grad_fn(self) -> None:
        raise AutogradError("Deletion of _grad_fn not allowed. Detach tensor instead!")

    def reinforce(self, reward: Any) -> None:
        """Give a sample its reward: backward sends reward · ∂ log p / ∂θ to the parameters θ it was drawn with.

        >>> import symgrad as sg
        >>> _ = sg.manual_seed(0)
        >>> p = sg.tensor([0.25, 0.5], requires_grad=True)
        >>> sample = sg.bernoulli(p)
        >>> sample.reinforce(sg.tensor([1.0, 2.0]))
        >>> sample.sum().backward()
        >>> sample.detach(), p.grad
        (tensor([0., 0.]), tensor([-1.3333, -4.0000]))
        """
        from symgrad.autograd.sweeps.stochastic import reinforce

        reinforce(self, reward)


def without_gradients(parameters: Iterable[Any], set_to_none: bool) -> None:
    """Take the gradients of leaves away, or make them zeros without history."""
    for parameter in parameters:
        if parameter.grad is None:
            continue
        if set_to_none:
            parameter.grad = None
        elif parameter.grad.grad_fn is not None:
            parameter.grad.detach_().zero_()
        else:
            parameter.grad.requires_grad_(False).zero_()
