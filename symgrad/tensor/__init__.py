"""The tensor users hold: made, shown, stored, written to."""

from symgrad.tensor.tensor import FUNCTIONS as FUNCTIONS
from symgrad.tensor.tensor import Tensor as Tensor
