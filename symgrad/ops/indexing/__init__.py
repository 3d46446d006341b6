"""Entries by their places: getitem and gather, writing by index, sorting, searching, counting."""
