package rewrite_test

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
	"github.com/etwgen/etwgen/trace/rewrite"
)

// A trace of the collections of another one, with all that is needed to understand them.
func Example() {
	t, err := trace.Open("../../tests/recorded/gc.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var out bytes.Buffer
	if err := copyCollections(&out, t); err != nil {
		fmt.Println(err)
		return
	}
	part, err := trace.Read("part", io.NopCloser(&out))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer part.Close()
	var mux etw.Mux
	etw.Handle(&mux, func(_ *etw.Record, e *clr.AnyGCStart) error {
		fmt.Println("collection", e.Count, e.Reason)
		return nil
	})
	if err := mux.Run(context.Background(), part); err != nil {
		fmt.Println(err)
	}
	// Output:
	// collection 1 Induced
	// collection 2 Induced
	// collection 3 InducedCompacting
	// collection 4 InducedNoForce
	// collection 5 InducedNoForce
}

func copyCollections(out io.Writer, t *trace.Trace) error {
	w, err := rewrite.NewWriter(out, t, rewrite.Options{})
	if err != nil {
		return err
	}
	var keep rewrite.Keeper
	for r, err := range t.Records() {
		if err != nil {
			return err
		}
		if r.Provider == clr.Provider.Desc.GUID && clr.Keyword(r.Keywords)&clr.KeywordGC != 0 {
			keep.Chose(r)
		} else if !keep.Needs(r) {
			continue
		}
		if err := w.Write(r); err != nil {
			return err
		}
	}
	return w.Close()
}

// Texts of one field are replaced by others of the same length.
func ExampleRedactor() {
	t, err := trace.Open("../../tests/recorded/exceptions.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	x := rewrite.NewRedactor(etw.NewDecoder(clr.Provider), rewrite.Redaction{Fields: []string{"ExceptionMessage"}, Blank: true})
	var mux etw.Mux
	etw.Handle(&mux, func(_ *etw.Record, e *clr.AnyExceptionThrown) error {
		fmt.Println(e.ExceptionType, e.ExceptionMessage)
		return io.EOF // the first is enough
	})
	for r, err := range t.Records() {
		if err != nil {
			fmt.Println(err)
			return
		}
		if known, err := x.Redact(r); err != nil || !known {
			continue // nobody knows what it may contain
		}
		if err := mux.Dispatch(r); err != nil {
			return
		}
	}
	// Output: System.InvalidOperationException ********
}
