// Exceptions counts the exceptions that a .NET program threw, by type, from a
// .nettrace file that was recorded with the keyword Exception:
//
//	go run ./examples/exceptions tests/recorded/exceptions.nettrace
package main

import (
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

func run(w io.Writer, path string) error {
	trace, err := nettrace.Open(path)
	if err != nil {
		return err
	}
	defer trace.Close()

	var mux etw.Mux
	counts := make(map[string]int)
	messages := make(map[string]string) // the first one of each type
	etw.Handle(&mux, func(_ *etw.Record, e *clr.ExceptionThrownV1) error {
		name := e.ExceptionType.String()
		if counts[name]++; counts[name] == 1 {
			messages[name] = e.ExceptionMessage.String()
		}
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
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(w, "%6d  %s: %s\n", counts[name], name, messages[name])
	}
	return nil
}
