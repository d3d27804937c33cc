{{/* The parts of the pod that values decide. */}}

{{- define "kureka.podLabels" -}}
{{- $mesh := .Values.mesh.inject | ternary (dict) (dict "sidecar.istio.io/inject" "false") -}}
{{- mustMerge (include "kureka.selector" . | fromYaml) .Values.podLabels $mesh .Values.commonLabels | toYaml -}}
{{- end }}

{{- define "kureka.podAnnotations" -}}
{{- $mesh := .Values.mesh.inject | ternary (dict) (dict "linkerd.io/inject" "disabled") -}}
{{- mustMerge (dict) .Values.podAnnotations $mesh .Values.commonAnnotations | toYaml -}}
{{- end }}

{{- define "kureka.placement" -}}
{{- range $field := list "priorityClassName" "runtimeClassName" "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" "dnsConfig" }}
{{- with get $.Values $field }}
{{ dict $field . | toYaml }}
{{- end }}
{{- end }}
{{- end }}

{{- define "kureka.args" -}}
- manager
- --canary-lease={{ include "kureka.name" . }}
{{- if ne .Values.mode "Enforce" }}
- --mode={{ .Values.mode }}
{{- end }}
{{- with .Values.registryClass }}
- --registry-class={{ . }}
{{- end }}
{{- with .Values.watchNamespaces }}
- --watch-namespaces={{ join "," . }}
{{- end }}
- --start-gate={{ .Values.startGate }}
- --shutdown-delay={{ .Values.shutdownDelaySeconds }}s
- --max-instances={{ .Values.maxInstances | int64 }}
{{- with .Values.trustedProxies }}
- --trusted-proxies={{ join "," . }}
{{- end }}
{{- with .Values.replicationPeers }}
- --replication-peers={{ join "," . }}
{{- end }}
- --log-level={{ .Values.logLevel }}
- --dashboard={{ ternary "On" "Off" .Values.dashboard.enabled }}
- --prober={{ ternary "On" "Off" .Values.prober.enabled }}
{{- if .Values.snapshot.enabled }}
- --snapshot-file=/var/lib/kureka/registry.snapshot
{{- end }}
{{- if .Values.auth.basic.existingSecret }}
- --registry-users-file=/etc/kureka/auth/{{ .Values.auth.basic.key }}
{{- end }}
{{- if .Values.tls.existingSecret }}
- --registry-tls-cert-file=/etc/kureka/tls/tls.crt
- --registry-tls-key-file=/etc/kureka/tls/tls.key
{{- end }}
{{- if .Values.webhook.enabled }}
- --webhook-bind-address=:9443
- --webhook-configuration={{ include "kureka.name" . }}
- --webhook-service={{ include "kureka.name" . }}
{{- if include "kureka.webhookSecret" . }}
- --webhook-cert-dir=/etc/kureka/webhook
{{- end }}
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{- define "kureka.env" -}}
- name: POD_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
{{- with include "kureka.memoryLimit" (.Values.resources.limits.memory | default "none") }}
- name: GOMEMLIMIT
  value: {{ . | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The Secrets that are mounted: name and folder of each, and whether the pod starts without it. */}}
{{- define "kureka.secrets" -}}
{{- with .Values.auth.basic.existingSecret }}
- {volume: auth, secret: {{ . | quote }}}
{{- end }}
{{- with .Values.tls.existingSecret }}
- {volume: tls, secret: {{ . | quote }}}
{{- end }}
{{- with include "kureka.webhookSecret" . }}
- {volume: webhook, secret: {{ . | quote }}, optional: {{ $.Values.webhook.certificate.certManager.enabled }}}
{{- end }}
{{- end }}

{{- define "kureka.volumeMounts" -}}
{{- if .Values.snapshot.enabled }}
- name: state
  mountPath: /var/lib/kureka
{{- end }}
{{- range include "kureka.secrets" . | fromYamlArray }}
- name: {{ .volume }}
  mountPath: /etc/kureka/{{ .volume }}
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "kureka.volumes" -}}
{{- if .Values.snapshot.enabled }}
- name: state
  {{- if include "kureka.claim" . }}
  persistentVolumeClaim:
    claimName: {{ include "kureka.claim" . }}
  {{- else }}
  emptyDir:
    {{- toYaml .Values.snapshot.emptyDir | nindent 4 }}
  {{- end }}
{{- end }}
{{- range include "kureka.secrets" . | fromYamlArray }}
- name: {{ .volume }}
  secret:
    secretName: {{ .secret }}
    {{- if .optional }}
    optional: true # the registry does not wait for a certificate of its webhook
    {{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Name of the claim that keeps the snapshot; nothing if an emptyDir does. */}}
{{- define "kureka.claim" -}}
{{- with .Values.snapshot.persistentVolumeClaim -}}
{{- if .existingClaim -}}
{{- .existingClaim -}}
{{- else if .enabled -}}
{{- include "kureka.name" $ -}}
{{- end -}}
{{- end -}}
{{- end }}
