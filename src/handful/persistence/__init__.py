"""Model files that never run code."""
