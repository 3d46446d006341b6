"""Rows of a matrix, by their numbers."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from symgrad.errors import ArgumentError
from symgrad.nn import functional, init
from symgrad.nn.modules.linear import empty_parameter
from symgrad.nn.modules.module import Module, unusual
from symgrad.nn.parameter import Parameter
from symgrad.tape.modes import no_grad


class _Rows(Module):
    """What both share: the matrix, ``weight`` (num_embeddings, embedding_dim), of normal numbers at the beginning."""

    def _layer_set_up(self, rows: int, columns: int, padding_idx: int | None, given: Any, where: Any) -> None:
        self.num_embeddings, self.embedding_dim = rows, columns
        if padding_idx is not None:
            if not -rows <= padding_idx < rows:
                raise ArgumentError("Padding_idx must be within num_embeddings")
            padding_idx %= rows
        self.padding_idx = padding_idx
        if given is None:
            self.weight = empty_parameter((rows, columns), *where)
            self.reset_parameters()
        elif list(given.shape) != [rows, columns]:
            raise ArgumentError(
                f"Shape of weight does not match num_embeddings and embedding_dim: {tuple(given.shape)}, and not "
                f"{(rows, columns)}."
            )
        else:
            self.weight = Parameter(given)

    def reset_parameters(self) -> None:
        """Draw the values of the beginning again; the row of the padding is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    @classmethod
    def from_pretrained(cls, embeddings: Any, freeze: bool = True, **settings: Any) -> Self:
        """A layer of a given matrix, which is not trained if ``freeze``.

        Raises ``ValueError`` for what has not two axes.
        """
        if embeddings.ndim != 2:
            raise ArgumentError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        made = cls(rows, columns, _weight=embeddings, **settings)
        made.weight.requires_grad_(not freeze)
        return made


class Embedding(_Rows):
    """The rows of ``weight`` that integers name: (*) to (*, embedding_dim).

    ``padding_idx`` names a row without gradient, ``max_norm`` scales rows down that are used and longer.

    >>> import symgrad as sg
    >>> sg.nn.Embedding(10, 3)(sg.tensor([[1, 2], [4, 9]])).shape
    torch.Size([2, 2, 3])
    """

    _layer_shown = "{num_embeddings}, {embedding_dim}"
    _layer_usual: ClassVar[dict[str, Any]] = {
        "padding_idx": None,
        "max_norm": None,
        "norm_type": 2.0,
        "scale_grad_by_freq": False,
        "sparse": False,
    }

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self._layer_set_up(num_embeddings, embedding_dim, padding_idx, _weight, (device, dtype))
        self.weight.requires_grad_(not _freeze)

    def forward(self, input: Any) -> Any:
        """Shape (*, embedding_dim)."""
        return functional.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )


class EmbeddingBag(_Rows):
    """Sums, means or maxima of the rows that bags of integers name: (B, N) to (B, embedding_dim)."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Any = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset
        self._layer_set_up(num_embeddings, embedding_dim, padding_idx, _weight, (device, dtype))

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        """Shape (B, embedding_dim); ``offsets`` say where bags begin in a row of integers."""
        return functional.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        """Sizes, and what is not as usual."""
        scaled = unusual(self, max_norm=None, norm_type=2.0, scale_grad_by_freq=False)
        padding = unusual(self, padding_idx=None)
        return f"{self.num_embeddings}, {self.embedding_dim}{scaled}, mode={self.mode!r}{padding}"
