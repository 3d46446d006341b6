"""What programs of many fields are made of, with the module they run with as an argument."""

from __future__ import annotations


def normal(torch, rng, *shape, dtype="float32", grad=False, scale=1.0):
    """Normal numbers from NumPy, the same for both modules."""
    return torch.tensor(rng.standard_normal(shape) * scale, dtype=getattr(torch, dtype), requires_grad=grad)


def layers(torch, sizes, rng, dtype="float32"):
    """Weights and biases of a network."""
    made = []
    for before, after in zip(sizes[:-1], sizes[1:]):
        made.append(normal(torch, rng, after, before, dtype=dtype, grad=True, scale=before**-0.5))
        made.append(torch.zeros(after, dtype=getattr(torch, dtype), requires_grad=True))
    return made


def network(torch, weights, x, activation=None):
    """The network of :func:`layers`."""
    for k in range(0, len(weights), 2):
        x = torch.nn.functional.linear(x, weights[k], weights[k + 1])
        if k + 2 < len(weights):
            x = (activation or torch.tanh)(x)
    return x
