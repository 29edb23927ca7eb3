{{/* What all pods have in common. */}}

{{- define "fqc.labels" -}}
app.kubernetes.io/name: fqc-control-plane
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Given: root, part (its name), spec (its own settings), command; more: probes and such, as text. */}}
{{- define "fqc.pod" -}}
metadata:
  labels:
    {{- include "fqc.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .part }}
  {{- with .root.Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  # No program of these asks the cluster for anything.
  automountServiceAccountToken: false
  enableServiceLinks: false
  securityContext:
    runAsNonRoot: true
    runAsUser: 991
    runAsGroup: 991
    fsGroup: 991
    seccompProfile:
      type: RuntimeDefault
  {{- with .root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- with .root.Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .pod }}
  {{- . | nindent 2 }}
  {{- end }}
  containers:
    - name: {{ .part }}
      image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      {{- with .command }}
      command: {{ toJson . }}
      {{- end }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      env:
        {{- include "fqc.environment" .root | trim | nindent 8 }}
      {{- with .container }}
      {{- . | nindent 6 }}
      {{- end }}
      resources:
        {{- toYaml .spec.resources | nindent 8 }}
      volumeMounts:
        - name: run
          mountPath: /var/lib/fqc
        - name: tmp
          mountPath: /tmp
  volumes:
    # Nothing in it has to last: rows are in PostgreSQL, keys in the Secret.
    - name: run
      emptyDir:
        sizeLimit: 1Gi
    - name: tmp
      emptyDir:
        sizeLimit: 256Mi
{{- end }}

{{- define "fqc.environment" -}}
{{- $own := list "FQC_PUBLIC_URL" "FQC_ALLOWED_HOSTS" "FQC_TRUSTED_PROXIES" "FQC_ENDPOINT_NETWORKS" "FQC_MAIL_NETWORKS" "FQC_CHANNEL_NETWORKS" "FQC_RUN_DIR" }}
{{- $secret := list "FQC_DATABASE_URL" "FQC_BROKER_URL" "FQC_SECRET_KEY" "FQC_SEALING_KEYS" }}
{{- range $secret }}
- name: {{ . }}
  valueFrom:
    secretKeyRef:
      name: {{ $.Values.secret }}
      key: {{ . }}
{{- end }}
- name: FQC_OIDC_CLIENT_SECRET
  valueFrom:
    secretKeyRef:
      name: {{ $.Values.secret }}
      key: FQC_OIDC_CLIENT_SECRET
      optional: true
- name: FQC_PUBLIC_URL
  value: {{ .Values.publicUrl | quote }}
- name: FQC_ALLOWED_HOSTS
  value: {{ prepend .Values.allowedHosts (regexReplaceAll ":[0-9]+$" (urlParse .Values.publicUrl).host "") | join "," | quote }}
- name: FQC_TRUSTED_PROXIES
  value: {{ .Values.trustedProxies | quote }}
- name: FQC_ENDPOINT_NETWORKS
  value: {{ join "," .Values.endpointNetworks | quote }}
- name: FQC_MAIL_NETWORKS
  value: {{ join "," .Values.mailNetworks | quote }}
- name: FQC_CHANNEL_NETWORKS
  value: {{ join "," .Values.channelNetworks | quote }}
{{- range $name, $value := .Values.settings }}
{{- if has $name (concat $own $secret (list "FQC_OIDC_CLIENT_SECRET")) }}
{{- fail (printf "settings.%s: it has a value of its own in values.yaml, or belongs into the Secret" $name) }}
{{- end }}
- name: {{ $name }}
  {{- /* Helm reads numbers as floats, and would write a big one with an exponent. */}}
  value: {{ kindIs "float64" $value | ternary (int64 $value) $value | quote }}
{{- end }}
{{- end }}

{{/* As the proxy in front asks: others are refused or redirected. */}}
{{- define "fqc.asking" -}}
port: http
httpHeaders:
  - name: Host
    value: {{ (urlParse .Values.publicUrl).host }}
  - name: X-Forwarded-Proto
    value: {{ (urlParse .Values.publicUrl).scheme }}
{{- end }}
