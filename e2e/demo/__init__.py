"""`make demo`: from a fresh clone to a slowdown table on a real Kubernetes."""
