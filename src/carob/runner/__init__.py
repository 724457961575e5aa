"""Pair cases with traces and score the pairs, in parallel, with a journal to resume from."""
