"""The REST routes, one module per resource. A handler parses, makes one `api` call and renders."""
