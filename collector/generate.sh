#!/usr/bin/env bash
# Generates the metadata of the receivers from their metadata.yaml, with the collector's
# own generator.
# Usage: generate.sh
set -euo pipefail
cd "$(dirname "$0")"
tool=$(mktemp -d)
trap 'rm -rf "$tool"' EXIT
# The last version all of whose modules can be had.
printf 'module tool\n\ngo 1.26.0\n\nrequire go.opentelemetry.io/collector/cmd/mdatagen v0.155.0\n' >"$tool/go.mod"
(cd "$tool" && GOFLAGS=-mod=mod go build -o mdatagen go.opentelemetry.io/collector/cmd/mdatagen)
for receiver in dotnetreceiver etwreceiver tracefilereceiver; do
	(cd "$receiver" && "$tool/mdatagen" metadata.yaml)
done
gofmt -w ./*receiver
