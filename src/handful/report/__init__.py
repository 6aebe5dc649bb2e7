"""Reports in the terminal and as HTML."""
