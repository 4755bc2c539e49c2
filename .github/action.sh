#!/usr/bin/env bash
# Runs a command of etwgen for action.yml: faults are shown beside the lines, and written as SARIF.
set -euo pipefail

# A module that has etwgen as a tool is judged by its own version, which made its packages.
if ! etwgen=$(go tool -n etwgen 2>/dev/null); then
	etwgen=$RUNNER_TEMP/etwgen
	go -C "$GITHUB_ACTION_PATH" build -o "$etwgen" ./cmd/etwgen
fi

read -ra args <<<"$ARGS"
temp=$(mktemp -d)
status=0

# show runs the command twice: for the log, and with what is found as SARIF.
show() {
	"$etwgen" "$COMMAND" --format sarif "$@" >"$temp/sarif" || true
	"$etwgen" "$COMMAND" "$@" 2>&1 | sed "s,$temp/old/,," || status=$?
	sed "s,$temp/old/,," "$temp/sarif" >"$SARIF"
}

# since shows changes of a file from its version of a commit, if that has one.
since() {
	mkdir -p "$temp/old/$(dirname "$1")"
	if git show "$SINCE:./$1" >"$temp/old/$1" 2>/dev/null; then
		show ${flags[@]+"${flags[@]}"} "$temp/old/$1" "$1" # bash 3 takes an empty list for unset
		SARIF=${SARIF%.sarif}+.sarif # of the next file
	fi
}

echo "::add-matcher::$GITHUB_ACTION_PATH/.github/matcher.json"
trap 'echo "::remove-matcher owner=etwgen::"' EXIT
case $COMMAND in
check) show ${args[@]+"${args[@]}"} ;;
diff)
	[ "${#args[@]}" -gt 0 ] || args=(./...)
	show "${args[@]}" >"$temp/diff"
	cat "$temp/diff"
	sed -nE 's,^(--- a|\+\+\+ b)/(.*),::error file=\2::stale: run go generate ./...,p' "$temp/diff" | sort -u
	;;
compat)
	if ! [[ $SINCE =~ [^0] ]]; then # the first push of a branch has zeros
		echo "there is no version before this one to compare with"
		exit
	fi
	git cat-file -e "$SINCE^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$SINCE"
	flags=()
	for arg in ${args[@]+"${args[@]}"}; do
		case $arg in
		-*) flags+=("$arg") ;;
		*) since "$arg" ;;
		esac
	done
	;;
*)
	echo "::error::command: $COMMAND: choose check, diff or compat"
	exit 2
	;;
esac
exit "$status"
