{{/* What the operator does in the namespaces that it serves. */}}
{{- define "dbbench.namespacedRules" -}}
# Deleted when spec.ttlAfterFinished has passed.
- apiGroups: [dbbench.io]
  resources: [dbbenchmarks]
  verbs: [get, list, watch, delete]
- apiGroups: [dbbench.io]
  resources: [dbbenchmarks/status]
  verbs: [update]
# Asked for where the admission plug-in OwnerReferencesPermissionEnforcement is on: children block
# the deletion of their owner.
- apiGroups: [dbbench.io]
  resources: [dbbenchmarks/finalizers]
  verbs: [update]
- apiGroups: [""]
  resources: [configmaps, services, persistentvolumeclaims]
  verbs: [list, create, patch, delete]
# The password of each benchmark: made once, never changed. Of the Secret of an external database: which
# keys it has.
- apiGroups: [""]
  resources: [secrets]
  verbs: [list, create, delete]
- apiGroups: [apps]
  resources: [statefulsets]
  verbs: [list, create, patch, delete]
- apiGroups: [batch]
  resources: [jobs]
  verbs: [list, watch, create, patch, delete]
- apiGroups: [""]
  resources: [pods]
  verbs: [list, watch]
# Results come through the log of the driver.
- apiGroups: [""]
  resources: [pods/log]
  verbs: [get]
# They explain what does not start.
- apiGroups: [""]
  resources: [events]
  verbs: [list]
{{- end -}}

{{/* Cluster-wide facts that are checked before anything is deployed. */}}
{{- define "dbbench.clusterRules" -}}
- apiGroups: [""]
  resources: [nodes]
  verbs: [list]
- apiGroups: [storage.k8s.io]
  resources: [storageclasses]
  verbs: [list]
{{- end -}}

{{/* KubeVirt's own settings, which are checked too: its feature gates among them. */}}
{{- define "dbbench.kubevirtClusterRules" -}}
- apiGroups: [kubevirt.io]
  resources: [kubevirts]
  verbs: [list]
{{- end -}}

{{- define "dbbench.kubevirtRules" -}}
- apiGroups: [kubevirt.io]
  resources: [virtualmachines]
  verbs: [list, create, patch, delete]
{{- end -}}

{{- define "dbbench.networkPolicyRules" -}}
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [list, create, patch, delete]
{{- end -}}

{{- define "dbbench.cloudNativePGRules" -}}
- apiGroups: [postgresql.cnpg.io]
  resources: [clusters]
  verbs: [list, create, patch, delete]
{{- end -}}
