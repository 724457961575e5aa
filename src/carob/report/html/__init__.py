"""A run as one HTML file that works offline, without a server and without scripts."""
