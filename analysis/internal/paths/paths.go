// Package paths takes apart the paths that traces have, of whatever system they are.
package paths

import "strings"

// Base returns the last part of a path of any system.
func Base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
