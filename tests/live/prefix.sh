# For scripts that run programs of Windows under wine: sets up what that takes, in the
# folder $dir. Exit code 3 says that something of it cannot be had.
lacking() { echo "$* cannot be had here" >&2; exit 3; }
[ "$(uname -sm)" = "Linux x86_64" ] || lacking "wine for x86-64"
if ! command -v wine >/dev/null || ! command -v x86_64-w64-mingw32-gcc >/dev/null; then
	command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || lacking wine
	{ timeout 120 apt-get update && timeout 240 apt-get install -y --no-install-recommends wine64 wine gcc-mingw-w64-x86-64; } >/dev/null 2>&1 || lacking wine
fi
mkdir -p "$dir"
export WINEPREFIX=$dir/prefix WINEDEBUG=-all
trap 'wineserver -k || true' EXIT
if [ ! -d "$WINEPREFIX" ]; then
	timeout 120 wineboot -i >/dev/null 2>&1 || lacking "a folder of wine"
	# Go wants a function for random numbers that this wine does not have yet.
	cat >"$dir/random.c" <<-'C'
		#include <windows.h>
		#include <ntsecapi.h>
		BOOL WINAPI ProcessPrng(void *p, size_t n) { return RtlGenRandom(p, (ULONG)n); }
	C
	x86_64-w64-mingw32-gcc -shared -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" "$dir/random.c" -ladvapi32
fi
