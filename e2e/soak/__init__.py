"""Small benchmarks on the local cluster, into which faults are injected at random instants."""
