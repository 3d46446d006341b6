"""The commands, one a file, and what explains the library: cards of ops, examples for ``help``, a demonstration."""
