// Exceptions counts the exceptions that a .NET program threw, by type, from a
// .nettrace file that was recorded with the keyword Exception:
//
//	go run ./examples/exceptions tests/recorded/exceptions.nettrace
package main

import (
	"cmp"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"slices"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: exceptions FILE.nettrace")
	}
	if err := run(os.Stdout, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// A thrown is what is known of the exceptions of one type.
type thrown struct {
	name    string
	count   int
	message string // of the first one
}

func run(w io.Writer, path string) error {
	trace, err := nettrace.Open(path)
	if err != nil {
		return err
	}
	defer trace.Close()

	var mux etw.Mux
	types := make(map[string]*thrown)
	etw.Handle(&mux, func(_ *etw.Record, e *clr.ExceptionThrownV1) error {
		// The strings of e are views that the next record overwrites. String copies.
		name := e.ExceptionType.String()
		if types[name] == nil {
			types[name] = &thrown{name: name, message: e.ExceptionMessage.String()}
		}
		types[name].count++
		return nil
	})
	for rec, err := range trace.Records() {
		if err != nil {
			return err
		}
		if err := mux.Dispatch(rec); err != nil {
			return err
		}
	}

	sorted := slices.SortedFunc(maps.Values(types), func(a, b *thrown) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.name, b.name))
	})
	fmt.Fprintf(w, "%8s  %-40s  %s\n", "COUNT", "TYPE", "FIRST MESSAGE")
	for _, t := range sorted {
		fmt.Fprintf(w, "%8d  %-40s  %q\n", t.count, t.name, t.message)
	}
	if lost := trace.Stats().Lost; lost > 0 {
		fmt.Fprintf(w, "%d events were lost\n", lost)
	}
	return mux.Stats().FirstError // of payloads that did not decode
}
