"""After an error inside of a transform, a mode or a context everything is as before."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad import func
from symgrad.autograd import detect_anomaly, forward_ad, functional, graph, profiler, set_multithreading_enabled
from symgrad.tape import observers, threads
from symgrad.tape.forward.dual import BY_HAND
from symgrad.tape.modes import MODE
from symgrad.tape.watching.watch import WATCH
from symgrad.utils.checkpoint import checkpoint

X = sg.tensor([1.0, 4.0, 2.0], dtype=sg.float64)


class OwnError(Exception):
    pass


class Raising(sg.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        raise OwnError

    @staticmethod
    def jvp(ctx, t):
        raise OwnError

    @staticmethod
    def vmap(info, in_dims, x):
        raise OwnError


def raising(x):
    made = sg.zeros(3, dtype=sg.float64)
    made[0] = x.sin().sum()
    raise OwnError


def misused_in_a_transform(x):
    return func.grad(lambda y: (func.vmap(lambda z: z * z)(y) @ sg.ones(2, 5, dtype=sg.float64)).sum())(x)


def raising_in_its_derivative(x):
    return Raising.apply(x.sin()).sum()


def within(context):
    def run(f):
        with context():
            f(X.clone().requires_grad_()).backward()

    return run


def in_a_hook(f):
    y = X.clone().requires_grad_().sin()
    y.register_hook(f)
    y.sum().backward()


def in_a_level(f):
    with forward_ad.dual_level():
        f(forward_ad.make_dual(X, X))


def checkpointed(reentrant):
    return lambda f: checkpoint(f, X.clone().requires_grad_(), use_reentrant=reentrant).backward()


PLACES = {
    "grad": lambda f: func.grad(f)(X),
    "value_and_grad": lambda f: func.value_and_grad(f)(X),
    "vjp": lambda f: func.vjp(f, X)[1](sg.ones((), dtype=sg.float64)),
    "jvp": lambda f: func.jvp(f, (X,), (X,)),
    "linearize": lambda f: func.linearize(f, X)[1](X),
    "jacrev": lambda f: func.jacrev(f)(X),
    "jacfwd": lambda f: func.jacfwd(f)(X),
    "hessian": lambda f: func.hessian(f)(X),
    "vmap": lambda f: func.vmap(f)(sg.stack([X, X])),
    "vmap of grad": lambda f: func.vmap(func.grad(f))(sg.stack([X, X])),
    "jvp of grad": lambda f: func.jvp(func.grad(f), (X,), (X,)),
    "functional.jacobian": lambda f: functional.jacobian(f, X),
    "functional.hvp": lambda f: functional.hvp(f, X, X),
    "functional.jvp": lambda f: functional.jvp(f, X, X),
    "compile": lambda f: sg.compile(f)(X),
    "compile of grad": lambda f: sg.compile(func.grad(f))(X),
    "jit": lambda f: sg.jit(f)(X),
    "checkpoint": checkpointed(False),
    "reentrant checkpoint": checkpointed(True),
    "hook": in_a_hook,
    "dual_level": in_a_level,
    "no_grad": within(sg.no_grad),
    "enable_grad": within(sg.enable_grad),
    "inference_mode": within(sg.inference_mode),
    "detect_anomaly": within(detect_anomaly),
    "profile": within(profiler.profile),
    "save_on_cpu": within(graph.save_on_cpu),
    "saved_tensors_hooks": within(lambda: graph.saved_tensors_hooks(lambda t: t, lambda t: t)),
    "disable_saved_tensors_hooks": within(lambda: graph.disable_saved_tensors_hooks("not here")),
    "allow_mutation_on_saved_tensors": within(graph.allow_mutation_on_saved_tensors),
    "set_multithreading_enabled": within(lambda: set_multithreading_enabled(False)),
    "conventions": within(lambda: sg.conventions("jax")),
}


def state():
    """What modes, levels and observers note of this thread and of all."""
    own = [{key: repr(getattr(local, key)) for key in dir(local) if key[:2] != "__"} for local in threads._LOCALS]
    return own, MODE.exceptional, WATCH.count, list(observers.NODES), sorted(BY_HAND)


def works():
    a, b = sg.tensor([1.0, 4.0, 2.0]), sg.tensor([3.0, 3.0, 3.0])
    assert sg.is_grad_enabled()
    assert not sg.is_inference_mode_enabled()
    assert type(a) is type(a * b) is sg.Tensor
    assert sg.max(input=a, other=b).tolist() == [3.0, 4.0, 3.0]
    assert sg.cumsum(input=a, dim=0).tolist() == [1.0, 5.0, 7.0]
    b[0] = a[1]
    assert b.tolist() == [4.0, 3.0, 3.0]
    w = sg.tensor([-2.0, 0.0], requires_grad=True)
    (w * w.abs()).sum().backward()
    assert w.grad.tolist() == [4.0, 0.0]
    assert (w.grad.requires_grad, w.grad.is_inference()) == (False, False)
    assert func.jvp(lambda x: x * x, (a,), (a,))[1].tolist() == [2.0, 32.0, 8.0]
    assert func.vmap(lambda x: x * 2)(a).tolist() == [2.0, 8.0, 4.0]
    assert func.grad(lambda x: x.abs().sum())(sg.zeros(2)).tolist() == [0.0, 0.0]


@pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled")
@pytest.mark.parametrize("f", [raising, misused_in_a_transform, raising_in_its_derivative])
@pytest.mark.parametrize("place", PLACES)
def test_errors_leave_nothing_behind(place, f):
    before = state()
    try:
        PLACES[place](f)
    except (OwnError, sg.errors.SymgradError):
        pass
    else:
        assert f is raising_in_its_derivative  # where none is asked for
    assert state() == before
    works()
