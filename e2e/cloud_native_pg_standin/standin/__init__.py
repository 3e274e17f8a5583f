"""A stand-in for CloudNativePG in tests: clusters become pods of PostgreSQL. See README.md."""
