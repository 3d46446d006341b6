"""The target of GNU Octave and MATLAB: the schedule of a program as statements on whole arrays.

``writer`` is the program; ``spelling`` reads how C writes an elementwise op and says it in operators for arrays;
``products`` writes sums of products, ``entries`` all other ops; ``library`` holds the functions that the text may call.
A vector is a column, axes count from 1, and what NumPy broadcasts from the right is turned there.
"""
