"""Models for tables, ensembles, explanations."""
