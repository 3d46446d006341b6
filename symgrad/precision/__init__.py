"""Kernels in other precisions than double: single and half to torch's last digit, and any number of digits."""
