"""The API `dbbench.io/v1alpha1`: types of spec and status, and the CRD made from them. No I/O."""

GROUP = "dbbench.io"
VERSION = "v1alpha1"
KIND = "DBBenchmark"
PLURAL = "dbbenchmarks"
API_VERSION = f"{GROUP}/{VERSION}"
