"""The C99 target: the schedule of a program as loops over entries, with sizes known at run time.

``writer`` is the program, ``entries`` says what one entry of a result is, ``loops`` what takes loops of its own,
``library`` holds the functions that the text may call, and ``texts`` names, numbers and brackets.
"""
