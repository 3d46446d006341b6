"""The exact derivative, how far an honest one may be from it, and its formula."""
