"""The published experiments that dbbench repeats: what was printed, and how it is measured here."""
