"""Bills of materials of everything that is delivered, and known vulnerabilities in it."""
