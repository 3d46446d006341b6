"""What explains the library to people: the command line, cards of ops, examples for ``help``, a demonstration."""
