"""adversaries."""
