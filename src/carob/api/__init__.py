"""The use-cases: everything that the command line, the pytest plugin and Python code call."""
