{{/* What the operator does in the namespaces that it serves. */}}
{{- define "dbbench.namespacedRules" -}}
- apiGroups: [dbbench.io]
  resources: [dbbenchmarks]
  verbs: [get, list, watch, patch, update]
- apiGroups: [dbbench.io]
  resources: [dbbenchmarks/status]
  verbs: [get, patch, update]
# Needed to set blockOwnerDeletion where OwnerReferencesPermissionEnforcement is on.
- apiGroups: [dbbench.io]
  resources: [dbbenchmarks/finalizers]
  verbs: [update]
- apiGroups: [""]
  resources: [configmaps, secrets, services, persistentvolumeclaims]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, delete]
- apiGroups: [""]
  resources: [pods/log]
  verbs: [get]
- apiGroups: [apps]
  resources: [statefulsets]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: ["", events.k8s.io]
  resources: [events]
  verbs: [get, list, create, patch]
{{- end -}}

{{/* Cluster-wide facts: the nodes that are compared, and whether a StorageClass exists. */}}
{{- define "dbbench.clusterRules" -}}
- apiGroups: [""]
  resources: [nodes]
  verbs: [get, list, watch]
- apiGroups: [storage.k8s.io]
  resources: [storageclasses]
  verbs: [get, list]
{{- end -}}

{{- define "dbbench.kubevirtRules" -}}
- apiGroups: [kubevirt.io]
  resources: [virtualmachines, virtualmachineinstances]
  verbs: [get, list, watch, create, patch, delete]
{{- end -}}
