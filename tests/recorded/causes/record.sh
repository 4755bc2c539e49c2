#!/bin/sh
# Records the traces in this folder with a real runtime of .NET 10.
#
#   record.sh APP10 [OUT]
#
# APP10 is workload.cs as a program: see ../answers/record.sh. OUT is where the traces go;
# without it they replace those beside this script. The times in them change from run to run;
# the tests do not depend on them.
set -eu

app=$(realpath "$1")
out=$(realpath "${2:-$(dirname "$0")}")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# The paths of programs end up in the traces: run a copy in a neutral folder.
cp "$app" "$tmp/shop"
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1

# record NAME PROVIDERS records the program from its start.
record() {
	env DOTNET_EnableEventPipe=1 DOTNET_EventPipeOutputPath="$tmp/new.nettrace" DOTNET_EventPipeRundown=0 \
		DOTNET_EventPipeConfig="$2" "$tmp/shop"
	gzip -9 -n <"$tmp/new.nettrace" >"$out/$1.nettrace.gz"
}

tpl=System.Threading.Tasks.TplEventSource
# With names of what is awaited, of methods and of locks; the least that says for whom threads
# work; what tools take that know tasks alone; and ids without anything else.
rest="Etwgen-Shop:ffffffffffffffff:5,Microsoft-DotNETCore-SampleProfiler:0:5"
pool="System.Diagnostics.Eventing.FrameworkEventSource:10:5"
record cause-10 "$rest,$pool,$tpl:400cb:5,Microsoft-Windows-DotNETRuntime:40000014011:5"
record cause-light-10 "$rest,$pool,$tpl:40080:4,Microsoft-Windows-DotNETRuntime:40000014001:5"
record tasks-10 "$rest,$tpl:c7:5"
record ids-10 "$rest,$tpl:80:4"
