"""Programs as files: alone with NumPy, in the calls of other libraries, in other languages, and as data."""
