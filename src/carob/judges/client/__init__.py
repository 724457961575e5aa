"""The judge client: turns a question into a valid answer, with cache, retries and a budget."""
