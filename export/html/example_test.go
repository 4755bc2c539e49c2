package html_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/export/html"
	"github.com/etwgen/etwgen/trace"
)

// A page of a trace.
func ExampleReport() {
	t, err := trace.Open("../../tests/recorded/gc.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	res, err := analysis.Run(context.Background(), t)
	if err != nil {
		fmt.Println(err)
	}
	var page strings.Builder // a file, usually
	if err := (&html.Report{Title: "gc.nettrace", Result: res}).Write(&page); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.Contains(page.String(), "<title>gc.nettrace"))
	// Output: true
}

// A flame graph of a call tree of your own.
func ExampleFlame() {
	flame := html.Flame{
		Title: "shop", What: "Processor time", Unit: "ms",
		Frames: []html.Frame{{Name: "Main"}, {Name: "Bake"}},
		Calls:  []html.Call{{Caller: -1, Frame: 0, Self: 2}, {Caller: 0, Frame: 1, Self: 40}},
	}
	var page strings.Builder // a file, usually
	if err := flame.Write(&page); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.HasPrefix(page.String(), "<!DOCTYPE html>"))
	// Output: true
}
