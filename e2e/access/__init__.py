"""Access to the cluster that tests and the demo run on: kubectl, Helm, the local cluster."""
