"""Modules of torch that programs import classes and functions from, with this library in torch's place."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import symgrad as sg

ROOT = Path(__file__).resolve().parents[1]
IMPORTS = """
from torch.nn import _reduction as _Reduction
import torch.utils.model_zoo as model_zoo
from torch.quantization.observer import MinMaxObserver
from torch.nn.quantized import BatchNorm2d as QBatchNorm2d
from torch.nn.modules.utils import _pair, _ntuple
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.loss import _Loss
from torch.nn.modules.activation import MultiheadAttention, ReLU
from torch.nn.modules.flatten import Flatten
from torch.nn.modules.pixelshuffle import PixelShuffle
from torch.nn.modules.upsampling import Upsample
from torch.nn.modules.fold import Unfold
from torch.nn.modules.distance import PairwiseDistance
from torch.nn.modules.transformer import TransformerEncoderLayer, _get_clones
from torch.nn.modules.module import Module, register_module_parameter_registration_hook
from torch.nn.modules.lazy import LazyModuleMixin
from torch.nn.parameter import Parameter, UninitializedParameter, UninitializedBuffer, is_lazy
from torch.nn.parallel import DataParallel, DistributedDataParallel
from torch.nn.utils.clip_grad import clip_grad_norm
from torch.nn.init import _no_grad_trunc_normal_
from torch.utils.data.dataloader import DataLoader, default_collate
from torch.utils.data._utils.collate import default_collate
from torch.utils.data.dataset import Dataset, random_split
from torch.utils.data.sampler import Sampler, WeightedRandomSampler
from torch._tensor import Tensor
from torch.functional import einsum, split
from torch.serialization import load, save
from torch.version import cuda
from torch.library import custom_op, infer_schema, opcheck
from torch.jit import ScriptModule, script_method, Final
from functorch import make_functional, make_functional_with_buffers, combine_state_for_ensemble, vmap, grad, jacrev
from torch.nn.modules.module import _IncompatibleKeys
from torch.nn.utils.fusion import fuse_conv_bn_eval
from torch.nn.utils import fuse_linear_bn_eval
from torch.distributions.multivariate_normal import _batch_mv, _batch_mahalanobis, _precision_to_scale_tril
from torch.quasirandom import SobolEngine
from torch.futures import Future
from torch.cuda import synchronize, Event, Stream
from torch._C import _get_tracing_state
from torch.compiler import allow_in_graph
from torch.jit import TracerWarning
from torch.nn.attention.flex_attention import flex_attention, create_block_mask
import torch.multiprocessing as mp
import torch.distributed as dist
import functorch
from torch.serialization import MAP_LOCATION, FILE_LIKE
from torch.fx import GraphModule, wrap
from torch.fx.experimental.proxy_tensor import make_fx
from torch.distributed.tensor import DTensor
import torch.distributed.rpc as rpc
from torch.cuda import nvtx
from torch.utils.data.dataloader import _collate_fn_t
import torch.hub
from torch._subclasses.fake_tensor import is_fake
from torch.distributed._tensor.experimental import implicit_replication
from torch import Future, SymInt, __config__
from torch._C import _are_functorch_transforms_active
from torch.nn.parallel.scatter_gather import scatter
from torch.utils.checkpoint import get_device_states, set_device_states
"""


def test_modules_that_programs_import_from():
    program = "import symgrad\nsymgrad.install_as_torch()\nimport torch\n"
    for line in IMPORTS.strip().splitlines():
        program += f"try:\n    {line}\nexcept ImportError as error:\n    print({line!r}, error)\n"
    program += """
print(torch.nn.functional is symgrad.nn.functional, torch.functional.einsum is torch.einsum, symgrad.__spec__.name)
print(symgrad.nn.modules.__spec__.name, torch.nn.DataParallel is DataParallel, torch.version.cuda is None)
print(dist.is_available(), mp.get_start_method() in mp.get_all_start_methods(), functorch.hessian is torch.func.hessian)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.stdout.splitlines() == ["True True symgrad", "symgrad.nn.modules True True", "False True True"], done
    assert not done.stderr


def test_what_is_not_here_can_be_named_and_says_so_when_called():
    """Packages name graphs, process groups and optimisers in types and defaults that most programs never use."""
    program = """
import symgrad
symgrad.install_as_torch()
import torch, torch.fx, torch.hub, torch.onnx, torch.distributed as dist
from torch.fx.experimental.proxy_tensor import make_fx
from torch.distributed.tensor import DTensor

def f(x: torch.torch.Tensor, g: torch.fx.Graph = None) -> torch.fx.graph_module.GraphModule: ...

def g(op=dist.ReduceOp.SUM): ...

assert not torch.onnx.is_in_onnx_export() and not dist.is_backend_available("nccl")
assert torch.fx.wrap(f) is f and torch.SymInt is torch.SymInt and torch.ones(2).dtype != torch.complex32
print(isinstance(torch.ones(2), (DTensor, torch.fx.GraphModule, torch.SymInt)), dist.rpc.is_available())
calls = (
    lambda: torch.fx.symbolic_trace(f), lambda: make_fx(f), lambda: torch.fx.Graph(), lambda: dist.all_reduce(1),
    lambda: torch.hub.load("a", "b"),
)
for call in calls:
    try:
        call()
    except NotImplementedError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    groups = (
        "there are no groups of processes, and distributed.is_available() is False. parallel.grad takes the gradients"
    )
    assert done.stdout.splitlines() == [
        "False False",
        "torch.fx.symbolic_trace is not here: symgrad.from_fx reads a graph of torch.fx.",
        "torch.fx.experimental.proxy_tensor.make_fx is not here: symgrad.from_fx reads a graph of torch.fx.",
        "torch.fx.Graph is not here: symgrad.from_fx reads a graph of torch.fx.",
        f"torch.distributed.all_reduce is not here: {groups} of a batch by several processes.",
        "torch.hub.load is not here: torch.load reads files of weights.",
    ], done
    with pytest.raises(AttributeError):
        sg.fx  # noqa: B018  (without the stand-in it is no name of this library)


def test_modules_that_programs_name():
    """As attributes, without an import of their own."""
    program = """
import symgrad
symgrad.install_as_torch()
import torch
print(torch.nn.modules.upsampling.Upsample is torch.nn.Upsample, torch.nn.modules.instancenorm._InstanceNorm)
print(torch.utils.data.dataloader.DataLoader is torch.utils.data.DataLoader, torch.serialization.load is torch.load)
print(torch._tensor.Tensor is torch.Tensor, torch.nn.attention.flex_attention.flex_attention)
for room in (torch.nn.modules, torch.utils.data, torch.nn.attention):
    print(hasattr(room, "nothing"))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["True"] * 3 + ["False"] * 3, done


def test_parallel_modules_are_the_modules_they_wrap():
    net = sg.nn.DataParallel(sg.nn.Linear(2, 1))
    x = sg.ones(3, 2)
    assert sg.equal(net(x), net.module(x))
    assert list(net.state_dict()) == ["module.weight", "module.bias"]
    with pytest.raises(RuntimeError, match="no device 'cuda:0'"):
        sg.nn.DataParallel(net, device_ids=[0])
    with pytest.raises(RuntimeError, match="no process group here"):
        sg.nn.parallel.DistributedDataParallel(net)


def test_modules_as_functions_of_their_weights():
    from symgrad.func import models

    net = sg.nn.Sequential(sg.nn.Linear(2, 3), sg.nn.Tanh(), sg.nn.Linear(3, 1))
    x = sg.randn(4, 2)
    f, weights = models.make_functional(net)
    assert sg.equal(f(weights, x), net(x))
    assert all(w.requires_grad and w is not p for w, p in zip(weights, net.parameters(), strict=True))
    assert not any(w.requires_grad for w in models.make_functional(net, disable_autograd_tracking=True)[1])
    slopes = models.grad(lambda w: f(w, x).sum())(weights)
    net(x).sum().backward()
    for slope, p in zip(slopes, net.parameters(), strict=True):
        sg.testing.assert_close(slope, p.grad)
    norm = sg.nn.BatchNorm1d(2)
    with pytest.raises(ValueError, match="has buffers"):
        models.make_functional(norm)
    g, weights, buffers = models.make_functional_with_buffers(norm)
    assert sg.equal(g(weights, buffers, x), norm(x))
    nets = [sg.nn.Linear(2, 1) for _ in range(3)]
    h, weights, buffers = models.combine_state_for_ensemble(nets)
    sg.testing.assert_close(models.vmap(h, (0, 0, None))(weights, buffers, x), sg.stack([net(x) for net in nets]))


def double(number, factor):
    raise SystemExit(number * factor)


def sleep_first(number):
    if number:
        raise SystemExit(3)
    time.sleep(60)


@pytest.mark.filterwarnings(r"ignore:os\.fork\(\) was called")  # where JAX was loaded by another test
def test_processes():
    mp = sg.multiprocessing
    mp.spawn(double, (0,), nprocs=2, start_method="fork")
    with pytest.raises(RuntimeError, match="process 1 terminated with exit code 3"):
        mp.spawn(double, (3,), nprocs=2, start_method="fork")
    started = mp.spawn(double, (0,), join=False, start_method="fork")
    assert started.pids()
    while not started.join(5):
        pass
    before = time.monotonic()
    with pytest.raises(RuntimeError, match="process 1 terminated with exit code 3"):
        mp.spawn(sleep_first, nprocs=2, start_method="fork")
    assert time.monotonic() - before < 50
    mp.set_sharing_strategy("file_system")
    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies()
    with pytest.raises(ValueError, match="set_sharing_strategy"):
        mp.set_sharing_strategy("wires")


def test_what_needs_a_gpu_is_refused_when_it_is_called():
    for name in ("synchronize", "Event", "Stream", "current_stream", "get_device_name"):
        with pytest.raises(RuntimeError, match=rf"cuda\.{name}\(\): there is no GPU"):
            getattr(sg.cuda, name)()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sg.cuda.nothing  # noqa: B018


def test_futures():
    later = sg.futures.Future()
    seen = []
    later.add_done_callback(lambda future: seen.append(future.value()))
    failed = later.then(lambda future: future.value() / 0)
    with pytest.raises(RuntimeError, match="nothing was set"):
        later.wait()
    later.set_result(2)
    later.add_done_callback(lambda future: seen.append(-future.value()))
    assert (seen, later.done(), failed.done()) == ([2, -2], True, True)
    with pytest.raises(ZeroDivisionError):
        failed.wait()
    with pytest.raises(RuntimeError, match="was set before"):
        later.set_result(3)
    assert sg.futures.wait_all([later, sg.jit.fork(max, 1, 5)]) == [2, 5]
    assert sg.futures.collect_all([]).wait() == []


def test_futures_that_another_thread_sets():
    later = sg.futures.Future()
    together = sg.futures.collect_all([later, later])
    thread = threading.Timer(0.1, later.set_result, [5])
    thread.start()
    assert later.wait() == 5
    assert [future.wait() for future in together.wait()] == [5, 5]
    thread.join()


def test_futures_that_fail():
    first, second, seen = sg.futures.Future(), sg.futures.Future(), []
    first.add_done_callback(lambda _: 1 / 0)
    first.add_done_callback(seen.append)
    both = sg.futures.collect_all([second, first])
    with pytest.raises(ValueError, match="not an Exception"):
        first.set_exception("wrong")
    with pytest.warns(UserWarning, match="error when running the callback: ZeroDivisionError"):
        first.set_exception(KeyError("none"))
    assert (seen, both.done()) == ([first], False)
    second.set_result(1)
    with pytest.raises(KeyError):
        both.wait()
