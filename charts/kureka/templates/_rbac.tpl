{{/* Events about nodes are in the namespace default. */}}
{{- define "kureka.rules.events" }}
- apiGroups: ["events.k8s.io"]
  resources: [events]
  verbs: [create]
{{- end }}

{{/* A role with its binding: dict "root" $, namespace ("" for the whole cluster), rules
and, where it is not that of all objects, name. */}}
{{- define "kureka.grant" }}
{{- $kind := ternary "ClusterRole" "Role" (empty .namespace) }}
{{- $name := .name | default (include "kureka.name" .root) }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
{{ include "kureka.metadata" (dict "root" .root "name" $name "namespace" .namespace) }}
rules:
  {{- .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
{{ include "kureka.metadata" (dict "root" .root "name" $name "namespace" .namespace) }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ $name }}
subjects:
  - kind: ServiceAccount
    name: {{ include "kureka.serviceAccountName" .root }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}
