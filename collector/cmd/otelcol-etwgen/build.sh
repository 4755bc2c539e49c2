#!/usr/bin/env bash
# Builds the collector of builder.yaml, with the collector's own builder, and prints
# where it is. GOOS=windows builds it for Windows; WITHOUT leaves components out, by a
# pattern of their modules, such as otlp.
# Usage: build.sh [FILE]
set -euo pipefail
cd "$(dirname "$0")"
out=${1:-$PWD/build/otelcol-etwgen$(go env GOEXE)}
builder=go.opentelemetry.io/collector/cmd/builder@v0.164.0
mkdir -p build
manifest=build/builder.yaml
grep -vE "gomod: .*(${WITHOUT:-nothing})" builder.yaml | sed "s|output_path: .*|output_path: $PWD/build|" >"$manifest"
# The builder would have the modules tidied, and so all that their tests need be there.
GOOS='' GOARCH='' GOFLAGS=-mod=mod go run "$builder" --config="$manifest" --skip-get-modules --skip-compilation >&2
cd build
CGO_ENABLED=0 GOFLAGS="-mod=mod -trimpath" go build -ldflags="-s -w" -o "$out" .
echo "$out"
