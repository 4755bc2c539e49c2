package main

import (
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/requests"
)

// TestTimesUnknown describes code of which the trace has no compiling.
func TestTimesUnknown(t *testing.T) {
	text := printedText(t, formatText, 0, func(p *printer) {
		jitFacts(&page{printer: p}, &jit.Runtime{WithoutStart: 2, Methods: []jit.Method{{NativeBytes: 10}, {NativeBytes: 5}}})
	})
	if text != "  compiled         2 methods, times unknown\n  code             15 bytes\n" {
		t.Errorf("%q", text)
	}
}

// TestProvidersOfTasks keeps the providers of tasks that nothing else tells apart.
func TestProvidersOfTasks(t *testing.T) {
	for second, want := range map[string]string{
		"Request": "COUNT  ERRORS  TOTAL MS  MEAN MS  MAX MS  TASK     PROVIDER",
		"Query":   "COUNT  ERRORS  TOTAL MS  MEAN MS  P50 MS  P95 MS  MAX MS  TASK",
	} {
		res := &requests.Result{Processes: []*requests.Process{{Tasks: []requests.Task{
			{Provider: "Microsoft-AspNetCore-Server-Kestrel", Task: "Request"}, {Provider: "Private.InternalDiagnostics.System.Net.Http", Task: second},
		}}}}
		text := printedText(t, formatText, 80, func(p *printer) {
			if err := viewOf(res, "task", newNames()).write(p); err != nil {
				t.Fatal(err)
			}
		})
		if head, _, _ := strings.Cut(text, "\n"); head != want {
			t.Errorf("%q, want %q", head, want)
		}
	}
}
