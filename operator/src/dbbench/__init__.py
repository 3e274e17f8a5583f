"""dbbench measures what a virtual machine costs a database, on Kubernetes."""

__version__ = "0.1.0"
