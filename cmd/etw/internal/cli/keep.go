package cli

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/order"
)

// A Shelf keeps the findings in a trace, so that another look at it takes no further pass. A
// server has one for each trace; commands of a command line have none.
type Shelf struct {
	// MostBytes is how much is kept of what says its Size; 0 keeps 8 results of any kind. What
	// was used last stays.
	MostBytes int

	mu    sync.Mutex
	found map[string]any
	bytes int
	Order []string // of the keys, the one that was used last at the end
}

// Sized is what a Shelf keeps by its size.
type Sized interface{ Size() int }

// ShelfKey is the key of a context's shelf.
type ShelfKey struct{}

// OpenerKey is the key of the function that opens files in place of os.Open, where only some may
// be read.
type OpenerKey struct{}

// ForAssistant reports whether a command runs for an assistant, which may read some files
// alone, and gets as much of an answer as it asked for.
func ForAssistant(cmd *cobra.Command) bool { return cmd.Context().Value(OpenerKey{}) != nil }

// ProgressKey is the key of the function that is told how far a reading of traces came: a
// func(events int64, share float64), whose share is negative if it is not known.
type ProgressKey struct{}

// SoFarKey is the key of the function that is told of the answer that a reading under way has so
// far: a func(any), which is not to keep it.
type SoFarKey struct{}

// GrowingKey is the key of the Growing of a context whose traces grow.
type GrowingKey struct{}

// A Growing is traces that grow.
type Growing struct {
	Over    <-chan struct{} // closes once they do not any more
	Unnamed func() string   // says why methods have no names yet, or ""
}

// LeapKey is the key of a context in which records before the time asked for need not be read:
// events are the same, but not the facts of the whole trace.
type LeapKey struct{}

// PassKey is the key of the function that a server has commands call before a pass over the traces:
// a func() (end func(), err error), which waits for other passes.
type PassKey struct{}

// Pass waits until a command may read traces, where others do. One that is at it already may.
func Pass(cmd *cobra.Command) (end func(), err error) {
	if begin, ok := cmd.Context().Value(PassKey{}).(func() (func(), error)); ok {
		return begin()
	}
	return func() {}, nil
}

// IsServed reports whether a server runs a command, which must not end with it.
func IsServed(cmd *cobra.Command) bool { return cmd.Context().Value(ShelfKey{}) != nil }

// mostKept is how many results of a trace are kept: those that were used last.
const mostKept = 8

// Get returns a kept value.
func (k *Shelf) Get(key string) (any, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.found[key]
	if ok {
		k.Order = append(order.Delete(k.Order, func(s string) bool { return s == key }), key)
	}
	return v, ok
}

// Put keeps something.
func (k *Shelf) Put(key string, v any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.found == nil {
		k.found = make(map[string]any)
	}
	k.bytes += sizeOf(v) - sizeOf(k.found[key])
	k.found[key] = v
	k.Order = append(order.Delete(k.Order, func(s string) bool { return s == key }), key)
	for len(k.Order) > 1 && (k.MostBytes > 0 && k.bytes > k.MostBytes || k.MostBytes == 0 && len(k.Order) > mostKept) {
		k.bytes -= sizeOf(k.found[k.Order[0]])
		delete(k.found, k.Order[0])
		k.Order = k.Order[1:]
	}
}

func sizeOf(v any) int {
	if s, ok := v.(Sized); ok {
		return s.Size()
	}
	return 0
}

// Kept returns the value of a key, or finds and keeps it. An interrupted search is not kept.
func Kept[T any](cmd *cobra.Command, key string, find func() (T, error)) (T, error) {
	k, ok := cmd.Context().Value(ShelfKey{}).(*Shelf)
	if !ok {
		return find()
	}
	if v, ok := k.Get(key); ok {
		return v.(T), nil
	}
	end, err := Pass(cmd)
	if err != nil {
		var none T
		return none, err
	}
	defer end()
	if v, ok := k.Get(key); ok { // somebody before found the same
		return v.(T), nil
	}
	v, err := find()
	if err == nil && cmd.Context().Err() == nil {
		k.Put(key, v)
	}
	return v, err
}

// Stamps returns the paths of files with values that change when they do.
func Stamps(paths []string) string {
	var b strings.Builder
	for _, path := range paths {
		fmt.Fprintf(&b, "%q", path)
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, " %d %d ", info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}
