"""Loops of a program, which is unrolled when it is traced, found again and printed as recurrences."""
