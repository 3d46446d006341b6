"""The version of torch whose manners these are, and of what torch would be built with: nothing."""

from symgrad.stand_in import REFEREE

__version__ = REFEREE
cuda = hip = rocm = xpu = git_version = None
debug = False
