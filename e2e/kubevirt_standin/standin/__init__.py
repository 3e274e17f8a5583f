"""A stand-in for KubeVirt in tests: virtual machines become pods that run QEMU. See README.md."""
