"""The command line: each command a plain function with typed options, those of one idea in one module."""
