#!/usr/bin/env bash
# Builds the collector of builder.yaml, and prints where it is. The collector's own
# builder writes the program; the modules are those of the manifest, without what only
# their tests need. GOOS=windows builds it for Windows; WITHOUT leaves components out, by
# a pattern of their modules, such as otlp.
# Usage: build.sh [FILE]
set -euo pipefail
cd "$(dirname "$0")"
out=${1:-$PWD/build/otelcol-etwgen$(go env GOEXE)}
version=v0.161.0
rm -rf build
mkdir build
manifest=build/builder.yaml
grep -vE "gomod: .*(${WITHOUT:-nothing})" builder.yaml | sed "s|output_path: .*|output_path: $PWD/build|" >"$manifest"
GOOS='' GOARCH='' GOFLAGS=-mod=mod go run "go.opentelemetry.io/collector/cmd/builder@$version" --config="$manifest" --skip-get-modules --skip-compilation >&2
cd build
{
	sed -n 's/^  module: /module /p' builder.yaml
	echo 'go 1.26.0'
	echo "require go.opentelemetry.io/collector/otelcol $version"
	sed -n 's/.*gomod: /require /p' builder.yaml | sort -u
	sed -n 's/^  - \(.* => .*\)/replace \1/p' builder.yaml
} >go.mod
CGO_ENABLED=0 GOFLAGS="${GOFLAGS:-} -mod=mod" go build -ldflags="-s -w" -o "$out" .
echo "$out"
