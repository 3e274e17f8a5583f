"""Generated DBBenchmarks against a real API server, and what the operator makes of them."""
