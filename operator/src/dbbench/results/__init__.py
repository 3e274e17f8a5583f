"""Records of trials, what is computed from them, and the documents that show it. No I/O."""
