// The program that holds a pod's namespaces open.
module dbbench.io/e2e/cluster/pause

go 1.24.0
