"""What users do with modules at the edges of torch's manners: each program runs with both libraries, and says the same.

Cycles of modules, classes that are derived from layers, copies of hooks, hooks that raise, second derivatives.
"""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings
from typing import Any, NamedTuple

import pytest

import symgrad as sg

torch = pytest.importorskip("torch")


class Pair(NamedTuple):
    """A result with names."""

    left: Any
    right: Any


def _line(T: Any) -> Any:
    class Line(T.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = T.nn.Parameter(T.tensor([2.0, 3.0]))

        def forward(self, x: Any) -> Any:
            return x * self.w

    return Line()


def _module(T: Any, function: Any) -> Any:
    return type("Made", (T.nn.Module,), {"forward": lambda _, *args, **kwargs: function(*args, **kwargs)})()


def modules_that_hold_each_other(T: Any) -> Any:
    outer, inner = T.nn.Module(), _line(T)
    outer.inner = inner
    inner.up = outer
    return [name for name, _ in outer.named_modules()], [name for name, _ in outer.named_parameters()]


def other_bases_are_initialised_where_that_is_asked_for(T: Any) -> Any:
    class Mixed:
        def __init__(self, size: int = 0):
            self.size = size

    class Both(T.nn.Module, Mixed):
        call_super_init = True

        def __init__(self) -> None:
            super().__init__(size=5)

    return Both().size, Both().training


def annotations_of_classes_that_are_derived_from_layers(T: Any) -> Any:
    class Scaled(T.nn.ReLU):
        factor: float = 2.0

        def forward(self, x: Any) -> Any:
            return super().forward(x) * self.factor

    class Learned(T.nn.SiLU):
        beta: Any

        def __init__(self, start: float):
            super().__init__()
            self.beta = T.nn.Parameter(T.tensor([start]))

        def forward(self, x: Any) -> Any:
            return super().forward(x * self.beta)

    one = T.ones(1)
    told = Scaled.factor, Scaled()(one).tolist(), repr(Scaled(inplace=True)), str(inspect.signature(Learned))
    return told, round(Learned(2.0)(one).item(), 5)


def copies_of_modules_call_hooks_of_loading_with_themselves(T: Any) -> Any:
    module, seen = _line(T), []
    module.register_load_state_dict_pre_hook(lambda found, *_: seen.append(found))
    other = copy.deepcopy(module)
    other.load_state_dict(module.state_dict())
    return seen[0] is other, seen[0] is module


def _hook(*_: Any) -> None:
    """Does nothing, under a name that pickle finds."""


def hooks_of_loading_are_pickled(T: Any) -> Any:
    layer = T.nn.Tanh()
    layer.register_load_state_dict_pre_hook(_hook)
    return repr(pickle.loads(pickle.dumps(layer)))


def hooks_after_a_state_change_it_in_place(T: Any) -> Any:
    layer = _line(T)
    layer._register_state_dict_hook(lambda *_: {"other": 1})
    found = layer.state_dict()
    layer.register_state_dict_post_hook(lambda *_: {"other": 1})
    with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
        layer.state_dict()
    return found


def parameters_that_are_assigned_are_as_frozen_as_those_before(T: Any) -> Any:
    layer = _line(T)
    layer.w.requires_grad_(False)
    layer.load_state_dict({"w": T.nn.Parameter(T.ones(2))}, assign=True)
    return layer.w.requires_grad


def hooks_that_are_always_called_see_what_there_is(T: Any) -> Any:
    def fail(*_: Any, **__: Any) -> None:
        raise ValueError("here")

    layer, seen = _line(T), []
    layer.register_forward_hook(fail)
    layer.register_forward_hook(lambda *args: seen.append(args[-1].tolist()), always_call=True)
    failing = _module(T, fail)
    failing.register_forward_pre_hook(lambda _, args, named: ((args[0] * 2,), {"k": 7}), with_kwargs=True)
    failing.register_forward_hook(
        lambda _, args, named, out: seen.append((args[0].tolist(), named, out)), with_kwargs=True, always_call=True
    )
    for module in (layer, failing):
        with pytest.raises(ValueError, match="here"):
            module(T.ones(2))
    return seen


def errors_of_hooks_that_are_always_called_do_not_hide_that_of_the_call(T: Any) -> Any:
    def fail(*_: Any) -> None:
        raise KeyError("hook")

    def forward(_: Any) -> None:
        raise ValueError("call")

    module = _module(T, forward)
    module.register_forward_hook(fail, always_call=True)
    with pytest.warns(UserWarning, match="hook"), pytest.raises(ValueError, match="call"):
        module(1)


def second_derivatives_through_hooks(T: Any) -> Any:
    module, seen = _module(T, lambda x, y: (x**3 * y, x * y**2)), []

    def double(_: Any, taken: Any, given: Any) -> Any:
        seen.append([g.tolist() for g in (*taken, *given)])
        return taken[0] * 2, taken[1] * 5

    module.register_full_backward_hook(double)
    x, y = (T.tensor([value], requires_grad=True) for value in (2.0, 3.0))
    one, other = module(x, y)
    first = T.autograd.grad((one + other).sum(), (x, y), create_graph=True)
    second = T.autograd.grad(first[0].sum() + first[1].sum(), (x, y))
    return [g.tolist() for g in (*first, *second)], seen


def named_results_stay_named_behind_hooks(T: Any) -> Any:
    module, seen = _module(T, lambda x: Pair(x * 2, x * 3)), []
    module.register_full_backward_hook(lambda _, taken, given: seen.append(len(given)))
    found = module(T.ones(1, requires_grad=True))
    (found.left + found.right).sum().backward()
    return type(found) is Pair, seen


def results_that_backward_hooks_do_not_see_are_told(T: Any) -> Any:
    module = _module(T, lambda x: {"twice": x * 2})
    module.register_full_backward_hook(_hook)
    with pytest.warns(UserWarning, match="module output should be a Tensor or a tuple of Tensors"):
        return module(T.ones(1, requires_grad=True))["twice"].tolist()


def layouts_of_images_leave_other_tensors_alone(T: Any) -> Any:
    layer = T.nn.Conv2d(2, 2, 1).to(memory_format=T.channels_last)
    return layer.weight.is_contiguous(memory_format=T.channels_last), layer.bias.stride()


def rows_grow_as_lists_do(T: Any) -> Any:
    row = T.nn.Sequential(T.nn.Tanh(), T.nn.ReLU())
    with pytest.raises(IndexError, match="Index out of range: 7"):
        row.insert(7, T.nn.Tanh())
    row *= 2
    both = {"left": T.ones(1)} | T.nn.ParameterDict({"right": T.zeros(1)})
    return repr(row), list(both), type(both).__name__


PROGRAMS = [
    program
    for name, program in list(globals().items())
    if inspect.isfunction(program) and program.__module__ == __name__ and not name.startswith("_")
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs_say_the_same(program: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert program(sg) == program(torch)
