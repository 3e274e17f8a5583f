"""State -> Decision: what to apply, to delete and to report. Pure."""
