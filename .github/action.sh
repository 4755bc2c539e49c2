#!/usr/bin/env bash
# Runs a command of etwgen for action.yml: faults are shown beside the lines, and written as SARIF.
set -euo pipefail

# A module that has etwgen as a tool is judged by its own version, which made its packages.
if ! etwgen=$(go tool -n etwgen 2>/dev/null); then
	etwgen=$RUNNER_TEMP/etwgen
	go -C "$GITHUB_ACTION_PATH" build -o "$etwgen" ./cmd/etwgen
fi

read -ra args <<<"$ARGS"
case $COMMAND in
check) ;;
diff) [ "${#args[@]}" -gt 0 ] || args=(./...) ;;
compat)
	if [ -n "$SINCE" ] && [[ $SINCE =~ [^0] ]]; then # the first push of a branch has zeros
		git cat-file -e "$SINCE^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$SINCE"
		args=(--since "$SINCE" "${args[@]}")
	else
		echo "there is no version before this one to compare with"
		exit
	fi
	;;
*)
	echo "::error::command: $COMMAND: choose check, diff or compat"
	exit 2
	;;
esac

"$etwgen" "$COMMAND" --format sarif "${args[@]}" >"$SARIF" || true
echo "::add-matcher::$GITHUB_ACTION_PATH/.github/matcher.json"
trap 'echo "::remove-matcher owner=etwgen::"' EXIT
if [ "$COMMAND" != diff ]; then
	"$etwgen" "$COMMAND" "${args[@]}"
	exit
fi
status=0
"$etwgen" diff "${args[@]}" | tee "$RUNNER_TEMP/etwgen.diff" || status=$?
sed -nE 's,^(--- a|\+\+\+ b)/(.*),::error file=\2::stale: run go generate ./...,p' "$RUNNER_TEMP/etwgen.diff" | sort -u
exit "$status"
