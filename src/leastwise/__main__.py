"""``python -m leastwise``: the command line where its script is not on the path."""

from leastwise.cli.main import main

main()
