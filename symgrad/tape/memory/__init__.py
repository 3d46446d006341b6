"""Memory that tensors share and programs overwrite: views, versions, changes in place, ``out=`` and subscripts."""
