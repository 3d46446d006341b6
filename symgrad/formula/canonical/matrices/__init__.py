"""Rules of matrices: their notation, inverses, spectra, triangles and symmetries."""
