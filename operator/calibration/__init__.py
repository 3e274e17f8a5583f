"""Whether the statistics keep their promises, on simulated experiments whose truth is known."""
