"""Live agents: ask them the golden questions, and record what they did."""
