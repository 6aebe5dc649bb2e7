"""Prototype-driven taggers (Haghighi and Klein 2006)."""
