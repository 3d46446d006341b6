"""Shapes without arithmetic: reshaping, joining and parting, padding, strides."""
