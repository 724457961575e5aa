"""From a question to a valid answer: once, in time, within limits, and never made up."""
