"""The pages: one module per page. A page parses its address, makes one `api` call and renders; it
is complete without scripts."""
