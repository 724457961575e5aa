"""Metrics of which agents acted, in which order, and the session state they left."""
