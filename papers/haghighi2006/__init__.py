"""Haghighi and Klein (2006)."""
