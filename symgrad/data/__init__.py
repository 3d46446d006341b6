"""Small public-domain data sets for the demonstration, the documentation and the tests."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from numpy.typing import NDArray


def challenger() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Temperature (°F) and O-ring damage (0 or 1) of the 23 Space Shuttle launches before the Challenger accident.

    The record is that of the Presidential Commission on the Space Shuttle Challenger Accident (1986), as tabulated by
    Dalal, Fowlkes and Hoadley, Journal of the American Statistical Association 84 (1989), 945-957.

    >>> temperature, damage = challenger()
    >>> len(temperature), int(damage.sum()), float(temperature.min())
    (23, 7, 53.0)
    """
    lines = files(__name__).joinpath("challenger.csv").read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines if not line.startswith(("#", "flight"))]
    temperature = np.array([float(row[1]) for row in rows])
    damage = np.array([float(row[2]) for row in rows])
    return temperature, damage
