"""A real Kubernetes on this machine: control plane on the host, nodes in network namespaces."""
