"""minimizers."""
