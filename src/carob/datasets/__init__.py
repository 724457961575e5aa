"""Golden data: read, write, validate, filter, convert and lint."""
