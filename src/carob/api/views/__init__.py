"""What pages show of stored runs."""
