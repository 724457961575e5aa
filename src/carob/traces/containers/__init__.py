"""Containers: how traces are packed in a file. Each turns items into spans, logs and traces."""
