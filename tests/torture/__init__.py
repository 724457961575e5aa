"""Campaigns that try to break Carob: kills, full disks, hostile input, many writers.

They judge by what commands do, not by how. `python -m tests.torture --help` runs them for as
long as you like and writes docs/reliability.md; the tests beside run a short version of each.
"""
