"""Programs that load the evaluator of another tool once, and call it for every line."""
