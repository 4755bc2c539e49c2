package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
)

// A shelf keeps what was found in a trace, so that another look at it takes no further
// pass. A server has one for each trace; commands of a command line have none.
type shelf struct {
	mu    sync.Mutex
	found map[string]any
	order []string // of the keys, the one that was used last at the end
}

// shelfKey is the key of a context's shelf.
type shelfKey struct{}

// openerKey is the key of what opens files in place of os.Open, where only some may be read.
type openerKey struct{}

// isServed reports whether a server runs a command, which must not end with it.
func isServed(cmd *cobra.Command) bool { return cmd.Context().Value(shelfKey{}) != nil }

// mostKept is how many results of a trace are kept: those that were used last.
const mostKept = 8

// get returns what is kept.
func (k *shelf) get(key string) (any, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.found[key]
	if ok {
		k.order = append(slices.DeleteFunc(k.order, func(s string) bool { return s == key }), key)
	}
	return v, ok
}

// put keeps something.
func (k *shelf) put(key string, v any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.found == nil {
		k.found = make(map[string]any)
	}
	k.found[key] = v
	k.order = append(slices.DeleteFunc(k.order, func(s string) bool { return s == key }), key)
	if len(k.order) > mostKept {
		delete(k.found, k.order[0])
		k.order = k.order[1:]
	}
}

// kept returns what is kept under a key, or finds and keeps it. What was interrupted is
// not kept.
func kept[T any](cmd *cobra.Command, key string, find func() (T, error)) (T, error) {
	k, ok := cmd.Context().Value(shelfKey{}).(*shelf)
	if !ok {
		return find()
	}
	if v, ok := k.get(key); ok {
		return v.(T), nil
	}
	v, err := find()
	if err == nil && cmd.Context().Err() == nil {
		k.put(key, v)
	}
	return v, err
}

// stamps returns the paths of files with what changes when they do.
func stamps(paths []string) string {
	var b strings.Builder
	for _, path := range paths {
		fmt.Fprintf(&b, "%q", path)
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, " %d %d ", info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}
