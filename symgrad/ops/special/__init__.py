"""Special functions: the names of torch.special, and those of SciPy beyond them."""
