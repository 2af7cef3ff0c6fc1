{{- define "phigate.name" -}}
{{- $name := ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) }}
{{- $name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "phigate.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "phigate.labels" -}}
{{ include "phigate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "phigate.image" -}}
{{- $image := required "image.repository: name your registry; deploy/Dockerfile builds the image" .Values.image.repository }}
{{- if .Values.image.digest }}{{ $image }}@{{ .Values.image.digest }}{{ else }}{{ $image }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* Serving plain text on a public address has to be somebody's decision. */ -}}
{{- define "phigate.scheme" -}}
{{- if .Values.tls.existingSecret }}HTTPS
{{- else if .Values.behindTlsProxy }}HTTP
{{- else }}{{ fail "set tls.existingSecret, or behindTlsProxy=true if a proxy terminates TLS in front of the pods" }}
{{- end }}
{{- end }}
