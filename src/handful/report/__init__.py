"""Reports in the terminal, as Markdown and as HTML."""
