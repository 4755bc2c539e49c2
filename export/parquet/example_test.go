package parquet_test

import (
	"context"
	"fmt"
	"os"

	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A trace as tables, a file for each type of event.
func ExampleExport() {
	t, err := trace.Open("../../tests/recorded/gc.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	dir, err := os.MkdirTemp("", "lake-*")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	m, err := parquet.Export(context.Background(), t, parquet.Options{
		Dir: dir, Trace: "gc", Host: "web1", Providers: []*etw.Provider{clr.Provider},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Events, "events in", len(m.Files), "files, complete:", m.Complete)
	// Output: 203 events in 27 files, complete: true
}
