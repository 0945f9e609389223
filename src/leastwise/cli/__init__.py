"""The command line: one module per command, each a plain function with typed options. ``main`` runs it."""
