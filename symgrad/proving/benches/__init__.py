"""Measurements side by side: what formulas cost who never asks for one, and Hessians that keep their structure.

``clock`` measures several functions in turns, ``lazy`` and ``hessians`` are the contestants.  They give rows of numbers
and judge none of them: ``python -m symgrad bench`` prints them.
"""
