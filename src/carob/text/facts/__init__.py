"""Facts of a text: the one engine that metrics, versions and lint rules compare texts with."""
