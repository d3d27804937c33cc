{{- define "kureka.name" -}}
{{- .Values.fullnameOverride | default "kureka" -}}
{{- end }}

{{- define "kureka.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (ternary (include "kureka.name" .) "default" .Values.serviceAccount.create) -}}
{{- end }}

{{/* What the Service and the Deployment find their pod by. It never changes. */}}
{{- define "kureka.selector" -}}
app.kubernetes.io/name: kureka
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* metadata of an object: dict "root" $ and, where they are needed, name, namespace,
labels and annotations. The namespace "" is that of an object without one. */}}
{{- define "kureka.metadata" -}}
{{- $root := .root -}}
{{- $labels := dict "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_") "app.kubernetes.io/managed-by" $root.Release.Service "app.kubernetes.io/version" (include "kureka.version" $root) -}}
{{- $labels = mustMerge (include "kureka.selector" $root | fromYaml) $labels (.labels | default dict) $root.Values.commonLabels -}}
{{- $annotations := mustMerge (dict) (.annotations | default dict) $root.Values.commonAnnotations -}}
metadata:
  name: {{ .name | default (include "kureka.name" $root) }}
  {{- with (hasKey . "namespace" | ternary .namespace $root.Release.Namespace) }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- toYaml $labels | nindent 4 }}
  {{- with $annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* What a label may hold of the version: at most 63 of certain characters. */}}
{{- define "kureka.version" -}}
{{- .Values.image.tag | default .Chart.AppVersion | replace "+" "_" | trunc 63 | trimSuffix "-" | trimSuffix "_" | trimSuffix "." -}}
{{- end }}

{{/* Name of the Secret with the webhook's certificate; nothing if Kureka makes its own.
Only one of those who may make it can. */}}
{{- define "kureka.webhookSecret" -}}
{{- $certificate := .Values.webhook.certificate -}}
{{- $annotation := "cert-manager.io/inject-ca-from" -}}
{{- if not .Values.webhook.enabled -}}
{{- else if not $certificate.certManager.enabled -}}
{{- $certificate.existingSecret -}}
{{- else if $certificate.existingSecret -}}
{{- fail "webhook.certificate.certManager.enabled and webhook.certificate.existingSecret: want only one, cert-manager writes a Secret of the chart's own" -}}
{{- else if $certificate.caBundle -}}
{{- fail "webhook.certificate.certManager.enabled and webhook.certificate.caBundle: want only one, cert-manager writes the authority itself" -}}
{{- else if hasKey .Values.webhook.annotations $annotation -}}
{{- fail (printf "webhook.certificate.certManager.enabled and %s in webhook.annotations: want only one, the chart sets that annotation itself" $annotation) -}}
{{- else -}}
{{- include "kureka.name" . }}-webhook
{{- end -}}
{{- end }}

{{- define "kureka.image" -}}
{{- $registry := .Values.global.imageRegistry | default .Values.image.registry -}}
{{- $name := printf "%s/%s" (trimSuffix "/" $registry) .Values.image.repository | trimPrefix "/" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $name .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end }}

{{/* Nine tenths of a memory quantity in bytes, or nothing where it has a unit that
nobody uses for memory. */}}
{{- define "kureka.memoryLimit" -}}
{{- $text := ternary (int64 . | toString) (toString .) (kindIs "float64" .) -}}
{{- $units := dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 -}}
{{- $unit := regexFind "[A-Za-z]*$" $text -}}
{{- $number := trimSuffix $unit $text -}}
{{- if and (hasKey $units $unit) (regexMatch "^[0-9.]+$" $number) -}}
{{- mulf (float64 $number) (get $units $unit) 0.9 | int64 -}}
{{- end -}}
{{- end }}
