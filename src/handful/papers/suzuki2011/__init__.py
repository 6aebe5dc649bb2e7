"""Suzuki, Isozaki and Nagata 2011: condensed features from large unlabeled text."""
