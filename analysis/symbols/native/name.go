package native

import "strings"

// undecorated returns the meaning of a name that a C or C++ compiler of Windows made, as far
// as that is simple: _Sleep@4 is Sleep, and ?bake@Oven@@QEAAXH@Z is Oven::bake. Names of
// templates and operators stay as they are.
func undecorated(name string) string {
	if rest, ok := strings.CutPrefix(name, "?"); ok {
		scope, _, ok := strings.Cut(rest, "@@")
		if !ok || scope == "" || strings.ContainsAny(scope, "?$") {
			return name
		}
		parts := strings.Split(scope, "@")
		for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
			parts[i], parts[j] = parts[j], parts[i]
		}
		return strings.Join(parts, "::")
	}
	if rest, ok := strings.CutPrefix(name, "_"); ok {
		if i := strings.LastIndexByte(rest, '@'); i > 0 && isNumber(rest[i+1:]) {
			return rest[:i]
		}
	}
	return name
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
