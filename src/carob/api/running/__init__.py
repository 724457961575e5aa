"""How a run is made: what to score, with what, from where, in which process."""
