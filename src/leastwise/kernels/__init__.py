"""Compiled loops over codes: pure functions of arrays that know nothing of schemas or artefacts.

Nothing is imported here on purpose. A module of this package brings numba with it, so it is imported inside the
function that needs it, and ``import leastwise`` neither loads numba nor compiles. What is compiled is cached on
disk.
"""
