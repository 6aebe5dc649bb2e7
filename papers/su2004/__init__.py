"""Su, Carpuat and Wu (2004)."""
