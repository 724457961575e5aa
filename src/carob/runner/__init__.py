"""Pair cases with traces and score the pairs, in parallel, with checkpoints to resume from."""
