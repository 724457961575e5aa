"""Golden data: read, write, validate, take apart, convert."""
