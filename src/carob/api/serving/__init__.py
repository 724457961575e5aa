"""What only a server does: receive spans, keep sessions, work in the background."""
