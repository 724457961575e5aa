"""The one reader of chat messages, tool blocks and token counts."""
