"""The command line: `dbbench`, also `kubectl dbbench`."""
