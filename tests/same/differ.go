package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// differences describes how two runs differ: nothing if they do not.
func differences(old, next streams) []string {
	var all []string
	names := maps.Clone(old)
	maps.Copy(names, next)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, was := old[name]
		after, is := next[name]
		switch {
		case !is:
			all = append(all, name+": only in the old")
		case !was:
			all = append(all, name+": only in the new")
		case !bytes.Equal(before, after):
			for _, d := range describe(before, after) {
				all = append(all, name+" "+d)
			}
		}
	}
	return all
}

// describe says in short how two texts differ: by the paths of JSON, or by the first line.
func describe(old, next []byte) []string {
	if paths := describeJSON(old, next); paths != nil {
		return paths
	}
	if !utf8.Valid(old) || !utf8.Valid(next) {
		return []string{fmt.Sprintf("of %d bytes, now %d", len(old), len(next))}
	}
	before, after := strings.Split(string(old), "\n"), strings.Split(string(next), "\n")
	for i := range max(len(before), len(after)) {
		switch {
		case i >= len(before):
			return []string{fmt.Sprintf("more lines\n+ %s", clip(after[i], 0))}
		case i >= len(after):
			return []string{fmt.Sprintf("fewer lines\n- %s", clip(before[i], 0))}
		case before[i] != after[i]:
			if paths := describeJSON([]byte(before[i]), []byte(after[i])); paths != nil {
				return paths
			}
			at := commonPrefix(before[i], after[i])
			return []string{fmt.Sprintf("line\n- %s\n+ %s", clip(before[i], at), clip(after[i], at))}
		}
	}
	return nil
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// clip returns the part of a line around a place.
func clip(text string, at int) string {
	const before, after = 40, 80
	start, end := max(0, at-before), min(len(text), at+after)
	return strings.ToValidUTF8(text[start:end], "")
}

// describeJSON returns how two documents differ, or nil if one is no object or list.
func describeJSON(old, next []byte) []string {
	var before, after any
	if json.Unmarshal(old, &before) != nil || json.Unmarshal(next, &after) != nil {
		return nil
	}
	found := map[string]string{}
	walk("", before, after, found)
	if len(found) == 0 {
		return []string{"JSON of another order or form"}
	}
	var all []string
	for _, path := range slices.Sorted(maps.Keys(found)) {
		all = append(all, path+found[path])
	}
	return all
}

// walk finds the paths at which two values of JSON differ; rows are one path.
func walk(path string, old, next any, found map[string]string) {
	switch before := old.(type) {
	case map[string]any:
		after, ok := next.(map[string]any)
		if !ok {
			break
		}
		keys := maps.Clone(before)
		maps.Copy(keys, after)
		for key := range keys {
			b, was := before[key]
			a, is := after[key]
			switch {
			case !is:
				found[path+"."+key] = ": only in the old"
			case !was:
				found[path+"."+key] = ": only in the new"
			default:
				walk(path+"."+key, b, a, found)
			}
		}
		return
	case []any:
		after, ok := next.([]any)
		if !ok {
			break
		}
		if len(before) != len(after) {
			found[path+"[]"] = fmt.Sprintf(": of %d, now %d", len(before), len(after))
		}
		for i := range min(len(before), len(after)) {
			walk(path+"[]", before[i], after[i], found)
		}
		return
	}
	if !reflect.DeepEqual(old, next) {
		found[path] = fmt.Sprintf(": %s -> %s", clip(fmt.Sprint(old), 0), clip(fmt.Sprint(next), 0))
	}
}
