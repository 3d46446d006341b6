"""Functions of engineers that are written in several languages."""

from __future__ import annotations

import symgrad as sg

F = sg.nn.functional


def logistic(w, X, y):
    return F.binary_cross_entropy_with_logits(X @ w, y) + 0.01 * (w @ w)


def attention(q, k, v):
    return (sg.softmax(q @ k.T, -1) @ v).pow(2).sum() + sg.logsumexp(q, 1).sum()


def gaussian(S, x):
    L = sg.linalg.cholesky(S)
    z = sg.linalg.solve_triangular(L, x[:, None], upper=False)
    return (z * z).sum() / 2 + sg.log(sg.diagonal(L)).sum()


def systems(A, b):
    return (sg.linalg.solve(A, b) ** 2).sum() + sg.logdet(A).sum() + sg.linalg.inv(A).sum()


def truss(X, ends, k):
    d = X[ends[:, 0]] - X[ends[:, 1]]
    return (k * (sg.sqrt((d * d).sum(1)) - 1) ** 2).sum()


def stencil(u):
    flow = u[1:-1, 2:] + u[1:-1, :-2] + u[2:, 1:-1] + u[:-2, 1:-1] - 4 * u[1:-1, 1:-1]
    return (flow * flow).sum() + (u[::2] ** 3).sum() + sg.roll(u, 1, 0)[0].prod()


def pieces(x, y):
    joined = sg.cat([x, sg.stack([y.sum(), y.prod()]), sg.flip(y, (0,))])
    kinked = sg.where(joined > 1, joined**2, sg.clamp(joined, 0.5, 0.9)) + sg.abs(joined - 1)
    return (sg.cumsum(kinked, 0) ** 2).sum() + sg.amax(x, 0) * sg.amin(y, 0) + F.pad(x, (2, 1)).cumsum(0).mean()


def image(picture, kernel):
    return (F.conv2d(picture[None, None], kernel[None, None]) ** 2).mean() + picture.std()
