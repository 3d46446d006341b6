"""``library.infer_schema``, ``opcheck``, and operators with a schema of their own, beside torch's."""

from __future__ import annotations

import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch is the referee here: pip install torch==2.13.0")
pytestmark = pytest.mark.peer


def functions(t):
    def plain(x, k, *, n=None):
        return x

    plain.__annotations__ = {"x": t.Tensor, "k": float, "n": int | None, "return": tuple[t.Tensor, t.Tensor]}

    def lists(x, ys, flag=True):
        return x

    lists.__annotations__ = {"x": t.Tensor, "ys": list[t.Tensor], "flag": bool, "return": t.Tensor}
    return plain, lists


def test_schemas_of_functions():
    found = []
    for t in (sg, torch):
        plain, lists = functions(t)
        infer = t.library.infer_schema
        found.append([
            infer(plain, mutates_args=()), infer(plain, mutates_args=(), op_name="mine"),
            infer(plain, mutates_args={"x"}), infer(lists, mutates_args={"x"}),
            infer(lists, mutates_args=["ys"]), infer(lists, mutates_args="unknown"),
        ])  # fmt: skip
        with pytest.raises(ValueError, match="in mutates_args were not found"):
            infer(plain, mutates_args={"z"})
        with pytest.raises(ValueError, match="must have a type annotation"):
            infer(lambda x: x, mutates_args=())
    assert found[0] == found[1]


def test_schemas_of_texts_are_read_again():
    def told(x, name="a, b", k=2):
        return x

    found = []
    for t in (sg, torch):
        told.__annotations__ = {"x": t.Tensor, "name": str, "k": int, "return": t.Tensor}
        schema = t.library.infer_schema(told, mutates_args=())
        found.append(schema)
        name = f"checks_{t.__name__}::named"
        op = t.library.custom_op(name, lambda x, name="a, b", k=2: x * k, mutates_args=(), schema=schema)
        assert op(t.ones(1)).tolist() == [2.0]
    assert found[0] == found[1] == '(Tensor x, str name="a, b", SymInt k=2) -> Tensor'


def test_schemas_that_mark_other_arguments_are_refused():
    for t in (sg, torch):
        for schema, names in (("(Tensor(a!) x) -> ()", ()), ("(Tensor x) -> ()", {"x"})):
            with pytest.raises(ValueError, match="The schema suggests that the op mutates"):
                t.library.custom_op("checks::changed", lambda x: None, mutates_args=names, schema=schema)


def test_operators_without_a_gradient_are_told_where_it_is_asked_for():
    for t in (sg, torch):
        op = made(t, "none", lambda x: x * 2)
        op.register_fake(lambda x: t.empty_like(x))
        with pytest.raises(Exception, match="no autograd formula was registered"):
            t.library.opcheck(op, (t.ones(2, requires_grad=True),))
        assert set(t.library.opcheck(op, (t.ones(2),)).values()) == {"SUCCESS"}


def test_operators_with_a_schema_need_no_annotations():
    for t in (sg, torch):
        schema = "(Tensor x, float by=2.0) -> Tensor"
        op = t.library.custom_op(
            f"checks_{t.__name__}::scaled", lambda x, by=2.0: x * by, mutates_args=(), schema=schema
        )
        assert op(t.ones(2)).tolist() == [2.0, 2.0]
        assert op(t.ones(2), by=3.0).tolist() == [3.0, 3.0]
        op.register_autograd(lambda ctx, g: (g * 2, None))
        x = t.ones(2, requires_grad=True)
        op(x).sum().backward()
        assert x.grad.tolist() == [2.0, 2.0]


def made(t, name, run, mutates_args=()):
    run.__annotations__ = {"x": t.Tensor, "return": t.Tensor}
    op = t.library.custom_op(f"checks_{t.__name__}::{name}", run, mutates_args=mutates_args)
    op.register_fake(lambda x: t.empty_like(x))
    return op


def test_operators_that_do_what_they_say():
    for t in (sg, torch):
        op = made(t, "cubed", lambda x: x**3)
        op.register_autograd(
            lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2,
            setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
        )
        found = t.library.opcheck(op, (t.randn(3, requires_grad=True),))
        assert list(found.values()) == ["SUCCESS"] * 4
        assert t.library.opcheck(op, (t.randn(3),), test_utils="test_schema") == {"test_schema": "SUCCESS"}
        with pytest.raises(Exception, match=r"mutates_args|test_utils"):
            t.library.opcheck(op, (t.randn(3),), test_utils="test_nothing")


def test_operators_that_change_what_they_did_not_say():
    for t in (sg, torch):
        op = made(t, "changing", lambda x: x.add_(1).clone())
        x = t.zeros(2)
        with pytest.raises(
            Exception, match="test_schema failed with Argument x is not defined as mutable but was mutated"
        ):
            t.library.opcheck(op, (x,))
        assert x.tolist() == [0.0, 0.0]
        found = t.library.opcheck(op, (x,), test_utils="test_schema", raise_exception=False)
        assert found["test_schema"] != "SUCCESS"


def test_gradients_that_fail_are_told():
    op = made(sg, "broken", lambda x: x * 2)
    op.register_autograd(lambda ctx, g: (g, g, g))
    with pytest.raises(AssertionError, match="test_aot_dispatch_dynamic failed with .*3 gradients for 1 arguments"):
        sg.library.opcheck(op, (sg.ones(2, requires_grad=True),), test_utils="test_aot_dispatch_dynamic")
