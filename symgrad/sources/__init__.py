"""What a formula is asked about: a function, a tensor or a text becomes a term over named symbols."""

from symgrad.sources.asked import Source, is_latex, names_in, read_function, source

__all__ = ["Source", "is_latex", "names_in", "read_function", "source"]
