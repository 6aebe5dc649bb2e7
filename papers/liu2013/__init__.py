"""Liu and others (2013)."""
