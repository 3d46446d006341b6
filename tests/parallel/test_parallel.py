"""Gradients by several processes: the same bits for any number of them, and nothing left behind."""

from __future__ import annotations

import functools
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import dataclass

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, WorkerError
from symgrad.nn import functional as F
from symgrad.parallel import memory, value_and_grad, workers
from symgrad.parallel.marks import marks_of
from symgrad.parallel.pieces import bounds, branches, tree_sum
from symgrad.parallel.work import Gradients

RNG = np.random.default_rng(0)
X, Y, W = RNG.normal(size=(53, 7)), RNG.normal(size=53), RNG.normal(size=7)

forks = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system")
two = functools.partial(value_and_grad, workers=2, start_method="fork")


def loss(w, X, y):
    return ((sg.tanh(X @ w) - y) ** 2).mean()


def bits(result):
    return [leaf.numpy().tobytes() for leaf in sg.func.transforms.containers.flatten(result)[0]]


@dataclass
class Layers:
    first: np.ndarray
    rest: list
    name: str = "net"


def net(p, batch):
    h = sg.tanh(batch["X"] @ p.first)
    return ((h @ p.rest[0]["W"] + p.rest[0]["b"] - batch["y"]) ** 2).mean()


NET = Layers(RNG.normal(size=(7, 5)), [{"W": RNG.normal(size=5), "b": 0.5}])


# ---------------------------------------------------------------------------------------------- the tree


@pytest.mark.parametrize("chunks", [1, 2, 3, 5, 6, 7, 8, 11, 16])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
def test_branches_are_those_of_the_tree(chunks, count):
    parts = [f"{k}" for k in range(chunks)]

    def tree(names):  # pairs, pairs of pairs, and an odd one waits
        while len(names) > 1:
            pairs = [f"({a}+{b})" for a, b in zip(names[::2], names[1::2], strict=False)]
            names = pairs + names[len(names) // 2 * 2 :]
        return names[0]

    runs = branches(chunks, count)
    assert [k for a, b in runs for k in range(a, b)] == list(range(chunks))
    assert tree([tree(parts[a:b]) for a, b in runs]) == tree(parts)
    values = RNG.normal(size=chunks) * 10.0 ** RNG.integers(-8, 8, chunks)
    whole = tree_sum([np.array(v)] for v in values)
    again = tree_sum(tree_sum([np.array(v)] for v in values[a:b]) for a, b in runs)
    assert whole[0].tobytes() == again[0].tobytes()
    assert eval(tree([f"np.float64({v!r})" for v in values.tolist()])) == whole[0]


def test_chunks_cover_the_batch():
    for count, chunks in ((7, 3), (16, 16), (100, 7)):
        spans = bounds(count, chunks)
        assert [k for a, b in spans for k in range(a, b)] == list(range(count))
        assert max(b - a for a, b in spans) - min(b - a for a, b in spans) <= 1


# ---------------------------------------------------------------------------------------------- values


@forks
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_the_same_bits_for_any_number_of_workers(reduction):
    def f(w, X, y):
        return getattr((sg.tanh(X @ w) - y) ** 2, reduction)()

    value, slope = sg.func.value_and_grad(f)(W, X, Y)
    found = []
    for count in (1, 2, 4):
        with value_and_grad(f, workers=count, reduction=reduction, start_method="fork") as both:
            found += [bits(both(W, X, Y)), bits(both(W, X, Y))]  # the second time with what the first one made
            got = both(W, X, Y)
    assert all(one == found[0] for one in found)
    assert np.allclose(got[0].item(), value.item(), rtol=1e-14)
    assert np.allclose(got[1].numpy(), slope.numpy(), rtol=1e-12)


def test_the_value_is_the_sum_of_the_chunks_in_pairs():
    parts = [sg.func.value_and_grad(loss)(W, X[a:b], Y[a:b]) for a, b in bounds(53, 4)]
    weighted = [g.numpy() * ((b - a) / 53) for (_, g), (a, b) in zip(parts, bounds(53, 4), strict=True)]
    _, found = value_and_grad(loss, chunks=4, workers=1)(W, X, Y)
    assert found.numpy().tobytes() == ((weighted[0] + weighted[1]) + (weighted[2] + weighted[3])).tobytes()


@forks
def test_containers_come_back_as_they_went():
    batch = {"X": X, "y": Y}
    value, slope = sg.func.value_and_grad(net)(NET, batch)
    with two(net) as both:
        got, found = both(NET, batch)
    assert isinstance(found, Layers)
    assert found.name is None
    assert list(found.rest[0]) == ["W", "b"]
    assert found.first.shape == (7, 5)
    assert found.rest[0]["b"].dtype == sg.float64
    assert np.allclose(found.first.numpy(), slope.first.numpy())
    assert np.allclose(found.rest[0]["b"].item(), slope.rest[0]["b"].item())
    assert np.allclose(got.item(), value.item())


@forks
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_gradients_by_what_is_cut_are_joined(reduction):
    def f(w, X, y):
        return getattr((sg.tanh(w @ X) - y) ** 2, reduction)()

    want = sg.func.value_and_grad(f, (0, 1))(W, X.T.copy(), Y)[1]
    for count in (1, 2):
        with value_and_grad(f, (0, 1), in_axes=(None, 1, 0), reduction=reduction, workers=count) as both:
            _, (by_w, by_x) = both(W, X.T.copy(), Y)
        assert np.allclose(by_w.numpy(), want[0].numpy())
        assert np.allclose(by_x.numpy(), want[1].numpy())


@forks
def test_aux_is_a_list_with_one_for_each_chunk():
    def f(w, X):
        return ((X @ w) ** 2).mean(), {"count": len(X), "last": X[-1]}

    with two(f, has_aux=True, chunks=3) as both:
        (value, aux), found = both(W, X)
    assert value.shape == ()
    assert found.shape == (7,)
    assert [a["count"] for a in aux] == [18, 18, 17]
    assert np.array_equal(aux[2]["last"].numpy(), X[-1])


@forks
def test_dtypes_are_those_of_the_arguments():
    def f(w, X):
        return (X @ w).mean()

    for dtype in (np.float16, np.float32):
        with two(f) as both:
            value, found = both(W.astype(dtype), X.astype(dtype))
        assert value.dtype == found.dtype == dtype
        assert np.allclose(found.numpy(), X.astype(dtype).mean(0), atol=2e-3)
    with two(lambda z, X: (X * z).abs().square().mean()) as both:
        assert both(1 + 2j, X)[1].dtype == np.complex128


@forks
def test_tensors_keywords_and_layouts():
    def f(w, X, *, y, power=2):
        return ((X @ w - y) ** power).mean()

    one = value_and_grad(f, workers=1)(W, X, y=Y)
    for data in (sg.from_numpy(X), np.asfortranarray(X), np.repeat(X, 2, 0)[::2], np.repeat(X, 2, 1)[:, ::2]):
        found = []
        for count in (1, 2):
            with value_and_grad(f, workers=count) as both:
                found.append(both(W, data, y=Y, power=2))
        assert bits(found[0]) == bits(found[1])
        assert np.allclose(found[0][1].numpy(), one[1].numpy())


@forks
def test_a_batch_smaller_than_its_chunks_and_one_example():
    for count in (1, 2, 3):
        with two(loss) as both:
            value, found = both(W, X[:count], Y[:count])
        want = sg.func.value_and_grad(loss)(W, X[:count], Y[:count])
        assert np.allclose(value.item(), want[0].item())
        assert np.allclose(found.numpy(), want[1].numpy())


@forks
def test_random_numbers_follow_from_the_seed_alone():
    def f(w, X):
        return (F.dropout(X, 0.5, training=True) @ w).mean()

    found = []
    for count in (1, 2):
        with value_and_grad(f, workers=count, randomness="different", start_method="fork") as both:
            sg.manual_seed(3)
            found += [bits(both(W, X)), bits(both(W, X))]
    assert found[0] == found[2]
    assert found[1] == found[3]
    assert found[0] != found[1]
    with two(f) as both, pytest.raises(RuntimeError, match="random"):
        both(W, X)


@forks
def test_settings_of_the_process_hold_in_workers():
    with two(lambda w, X: sg.abs(w).sum() + 0 * X.mean(), reduction="mean") as both:
        assert both(np.zeros(2), X)[1].numpy().tolist() == [0, 0]
        with sg.conventions("jax"):
            assert both(np.zeros(2), X)[1].numpy().tolist() == [1, 1]


# ---------------------------------------------------------------------------------------------- memory


@forks
def test_shared_arrays_are_not_copied():
    mine = memory.share({"X": X, "y": sg.from_numpy(Y), "name": "data"})
    assert mine["name"] == "data"
    assert isinstance(mine["y"], sg.Tensor)
    assert memory.share(mine["X"]) is mine["X"]
    assert memory.place_of(mine["X"][10:20]).offset == 10 * 7 * 8
    assert memory.place_of(X) is None
    assert memory.place_of(mine["X"][:, ::2]) is None
    with two(loss) as both:
        assert bits(both(W, mine["X"], mine["y"])) == bits(value_and_grad(loss, workers=1)(W, X, Y))
        mine["X"][:] = 2 * X  # seen by the workers as it is
        assert bits(both(W, mine["X"], mine["y"])) == bits(value_and_grad(loss, workers=1)(W, 2 * X, Y))
    names = [place.block for place in (memory.place_of(mine["X"]),)]
    kept = mine["X"][3:]
    del mine
    assert memory.place_of(kept) is not None
    del kept
    assert not any(name in memory._blocks for name in names)


def test_what_cannot_be_shared():
    with pytest.raises(ArgumentError, match="numbers"):
        memory.share(np.array([None]))
    with pytest.raises(ArgumentError, match="detach"):
        memory.share(sg.ones(2, requires_grad=True))


@forks
def test_memory_is_given_back(tmp_path):
    before = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    both = two(loss)
    both(W, X, Y)
    both(W, np.tile(X, (50, 1)), np.tile(Y, 50))  # more room
    assert len(multiprocessing.active_children()) >= 2
    del both
    assert not multiprocessing.active_children()
    after = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    assert not {name for name in after - before if name.startswith("psm")} & set(memory._blocks)


@forks
def test_an_argument_that_is_changed_in_place_is_refused():
    def f(w, X):
        X[0] = 0.0
        return (X @ w).mean()

    def g(w, X, *, y):
        y[0] = 0.0
        return ((X @ w) * y).mean()

    for count in (1, 2):
        with value_and_grad(f, workers=count, verify=False) as both, pytest.raises(ArgumentError, match="in place"):
            both(W, X.copy())
        with value_and_grad(g, workers=count, verify=False) as both, pytest.raises(ValueError, match="read-only"):
            both(W, X, y=Y.copy())


# ---------------------------------------------------------------------------------------------- functions


@forks
def test_changes_outside_are_noticed():
    scale, mask = 1.0, np.ones(7)

    def f(w, X):
        return scale * ((X * mask) @ w).mean()

    with two(f) as both:
        first = both(W, X)[1].numpy()
        mask[0] = 0.0
        assert both(W, X)[1].numpy()[0] == 0
        scale = 2.0
        assert np.allclose(both(W, X)[1].numpy()[1:], 2 * first[1:])


class Model:
    def __init__(self):
        self.scale = 1.0

    def __call__(self, w, X):
        return self.scale * (X @ w).mean()


@forks
def test_partial_functions_and_objects():
    with two(functools.partial(lambda k, w, X: k * (X @ w).mean(), 3.0)) as both:
        assert np.allclose(both(W, X)[1].numpy(), 3 * X.mean(0))
    model = Model()
    try:
        pickle.dumps(model)
    except pickle.PicklingError:
        pytest.skip("this module cannot be imported by name")
    with two(model) as both:
        first = both(W, X)[1].numpy()
        model.scale = 2.0
        assert np.allclose(both(W, X)[1].numpy(), 2 * first)


@forks
def test_programs_are_functions(tmp_path):
    w, data = sg.tensor(W, requires_grad=True, name="w"), sg.tensor(X[:5], name="X", requires_grad=True)
    program = sg.compile(((data @ w) ** 2).sum(), ["w", "X"])
    with two(program, reduction="sum") as both:
        _, found = both(W, X)
    assert np.allclose(found.numpy(), 2 * X.T @ (X @ W))


@forks
def test_a_tensor_from_outside_that_requires_grad_is_refused():
    c = sg.ones(7, dtype=sg.float64, requires_grad=True)
    with two(lambda w, X: (X @ (w * c)).mean()) as both:
        with pytest.raises(ArgumentError, match="from outside"):
            both(W, X)
        with sg.no_grad():
            assert np.allclose(both(W, X)[1].numpy(), X.mean(0))


def test_who_differentiates_through_it_is_told():
    both = value_and_grad(loss, workers=1)
    with pytest.raises(ArgumentError, match="no history"):
        both(sg.tensor(W, requires_grad=True), X, Y)
    with pytest.raises(ArgumentError, match="no history"):
        sg.func.grad(lambda w: both(w, X, Y)[0])(W)
    with pytest.raises(ArgumentError, match="no history"):
        sg.func.jvp(lambda w: both(w, X, Y)[0], (W,), (W,))


# ---------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reduction": "average"}, "'mean' or 'sum'"),
        ({"workers": 0}, "positive whole number"),
        ({"workers": 9, "chunks": 8}, "chunks=9"),
        ({"start_method": "thread"}, "start_method"),
        ({"randomness": "same"}, "randomness"),
    ],
)
def test_options(options, words):
    with pytest.raises(ArgumentError, match=words):
        value_and_grad(loss, **options)


@pytest.mark.parametrize(
    ("in_axes", "args", "words"),
    [
        (None, (W, X, Y[:5]), "same number of examples"),
        (None, (W, X[:0], Y[:0]), "no examples"),
        ((None, None, None), (W, X, Y), "none is cut"),
        ((None, 0), (W, X, Y), "does not fit"),
        ((None, 2, 0), (W, X, Y), "shape"),
        ((None, 0.5, 0), (W, X, Y), "int or None"),
        ((None, 0, 0), (W, X, 3.0), "no array"),
    ],
)
def test_axes(in_axes, args, words):
    with pytest.raises(ArgumentError, match=words):
        value_and_grad(loss, in_axes=in_axes, workers=1)(*args)


def test_a_function_that_is_not_reduced_as_was_said():
    with pytest.raises(ArgumentError, match="reduction='sum'"):
        value_and_grad(lambda w, X: (X @ w).sum(), workers=1)(W, X)
    with pytest.raises(ArgumentError, match="reduction='mean'"):
        value_and_grad(lambda w, X: (X @ w).mean(), workers=1, reduction="sum")(W, X)
    with pytest.raises(ArgumentError, match="penalty"):
        value_and_grad(lambda w, X: (X @ w).sum() + w @ w, workers=1, reduction="sum")(W, X)
    zero = value_and_grad(lambda w, X: ((X @ w) ** 2).sum(), workers=1)
    zero(0 * W, X)  # nothing is said by a function that is 0
    zero(0 * W, X)
    zero(0 * W, X)
    with pytest.raises(ArgumentError, match="reduction='sum'"):
        zero(W, X)
    penalty = value_and_grad(lambda w, X: (X**2).sum() + w @ w, workers=1, reduction="sum")
    penalty(0 * W, X)
    with pytest.raises(ArgumentError, match="penalty"):
        penalty(W, X)
    value_and_grad(lambda w, X: (X @ w).mean() + w @ w, workers=1)(W, X)
    value_and_grad(lambda w, X: (X @ w).sum() + w @ w, workers=1, reduction="sum", verify=False)(W, X)


# ---------------------------------------------------------------------------------------------- errors and ends


class Odd(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


@forks
def test_an_error_comes_home_with_its_traceback():
    def f(w, X):
        if (X < -1e8).any():
            raise ZeroDivisionError("bad example")
        return (X @ w).mean()

    data = X.copy()
    data[[20, 50]] = -1e9
    with two(f, chunks=8) as both:
        with pytest.raises(ZeroDivisionError, match="bad example") as caught:
            both(W, data)
        assert "chunk 2, the examples 14 to 20" in caught.value.__notes__[0]
        assert "in f" in str(caught.value.__cause__)
        assert np.allclose(both(W, X)[1].numpy(), X.mean(0))  # the pool is as it was


@forks
def test_an_error_that_pickle_cannot_bring():
    def f(w, X):
        if len(X) < 20:
            raise Odd(1, 2)
        return (X @ w).mean()

    with two(f, verify=False) as both, pytest.raises(WorkerError, match="(?s)Odd: 1 and 2.*Traceback"):
        both(W, X)


@forks
def test_a_worker_that_is_killed():
    home = os.getpid()

    def f(w, X, die):
        if die and os.getpid() != home:
            os.kill(os.getpid(), signal.SIGKILL)
        return (X @ w).mean()

    with two(f) as both:
        with pytest.raises(WorkerError, match="without an answer"):
            both(W, X, True)
        assert np.allclose(both(W, X, False)[1].numpy(), X.mean(0))  # with new processes


@forks
def test_an_object_in_a_forked_process_begins_anew():
    with two(loss) as both:
        want = bits(both(W, X, Y))
        context = multiprocessing.get_context("fork")
        queue = context.SimpleQueue()
        child = context.Process(target=lambda: (queue.put(bits(both(W, X, Y))), both.close()))
        child.start()
        assert queue.get() == want
        child.join(300)
        assert child.exitcode == 0
        assert bits(both(W, X, Y)) == want


@forks
def test_threads_take_turns():
    found = []
    with two(loss) as both:
        threads = [threading.Thread(target=lambda: found.append(bits(both(W, X, Y)))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [bits(value_and_grad(loss, workers=1)(W, X, Y))] * 4


KILLED = """
import multiprocessing, os, signal
import numpy as np
import symgrad as sg

both = sg.parallel.value_and_grad(lambda w, X: (X @ w).mean(), workers=2, start_method="fork")
both(np.ones(3), np.ones((32, 3)))
print(*(child.pid for child in multiprocessing.active_children()), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def _lives(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:  # nobody may have taken note of the end yet
        with open(f"/proc/{pid}/stat") as file:
            return file.read().split(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@forks
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are looked up in /proc")
def test_workers_end_with_a_parent_that_is_killed():
    done = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, timeout=600)
    children = [int(pid) for pid in done.stdout.split()]
    assert len(children) == 2
    end = time.monotonic() + 300
    while any(map(_lives, children)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(_lives, children))


INTERRUPTED = """
import multiprocessing, os, signal, time
import numpy as np
import symgrad as sg

def f(w, X):
    if len(X) == 2:
        if X[0, 0] == 0:
            os.kill(os.getppid(), signal.SIGINT)
        time.sleep(600)
    return (X @ w).mean()

both = sg.parallel.value_and_grad(f, workers=2, verify=False, start_method="fork")
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs are started without
try:
    both(np.ones(3), np.arange(96.0).reshape(32, 3))
except KeyboardInterrupt:
    print("interrupted", len(multiprocessing.active_children()), flush=True)
"""


@forks
def test_an_interrupt_leaves_no_process():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=600)
    assert done.stdout.split() == ["interrupted", "0"], done.stderr
    assert not done.stderr


SPAWNED = """
import numpy as np
import symgrad as sg

X, w = np.ones((6, 2), np.float32), np.ones(2, np.float32)

def f(w, X):
    return (X @ w).mean() * sg.tensor([1.0]).sum()  # float64, by default

if __name__ == "__main__":
    sg.set_default_dtype(sg.float64)
    with sg.parallel.value_and_grad(f, workers=2, start_method="spawn") as both:
        print(both(w, X))
    try:
        sg.parallel.value_and_grad(lambda w, X: (X @ w).mean(), workers=2, start_method="spawn")(w, X)
    except sg.errors.ArgumentError as error:
        print(error)
"""


def test_processes_that_are_spawned(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SPAWNED))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=600, env=environment)
    first, second = done.stdout.splitlines()
    assert first == "(tensor(2.), tensor([1., 1.], dtype=float32))", done.stderr
    assert "cannot be sent to worker processes" in second
    assert "top of a module" in second
    assert not done.stderr


def test_a_worker_whose_module_is_not_the_same():
    """What a spawned worker imports anew may have other values than the module has here by now."""
    rate = 0.5

    def f(w, X):
        return rate * (X @ w).mean()

    worker = workers._Worker(Gradients(f, 0, False, True, "error"))
    here = marks_of(f)
    assert worker.ready(here) is worker.job
    rate = 1.0
    worker.compared = False
    with pytest.raises(ArgumentError, match="reads rate from outside"):
        worker.ready(here)
    lost = pickle.dumps(Gradients(F.mse_loss, 0, False, True, "error")).replace(b"mse_loss", b"mse_lost")
    with pytest.raises(ArgumentError, match="cannot import"):
        workers._Worker(lost).ready(())
