"""How the operator bears a thousand benchmarks: real API server, real operator, stand-in nodes."""
