{{/* Name of the chart, or its override. */}}
{{- define "dbbench.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* Name of the release's objects: the release alone where it already says what it is. */}}
{{- define "dbbench.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "dbbench.name" . -}}
{{- if contains .Release.Name $name -}}
{{- $name -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "dbbench.selectorLabels" -}}
app.kubernetes.io/name: {{ include "dbbench.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "dbbench.labels" -}}
{{ include "dbbench.selectorLabels" . }}
app.kubernetes.io/component: operator
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "dbbench.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "dbbench.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name is needed when serviceAccount.create is false" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* Full name of one image: (dict "root" $ "image" .Values.images.driver). */}}
{{- define "dbbench.image" -}}
{{- if .image.name -}}
{{- .image.name -}}
{{- else -}}
{{- $prefix := .root.Values.image.registry | trimSuffix "/" -}}
{{- $tag := default .root.Chart.AppVersion .root.Values.image.tag -}}
{{- if $prefix }}{{ $prefix }}/{{ end }}{{ .image.repository }}:{{ $tag -}}
{{- end -}}
{{- end -}}
