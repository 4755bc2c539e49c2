package ask

import (
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/cmd/etw/internal/show/showtest"
)

// TestTimesUnknown describes code of which the trace has no compiling.
func TestTimesUnknown(t *testing.T) {
	text := showtest.Printed(t, show.FormatText, 0, func(p *show.Printer) {
		jitFacts(&page{Printer: p}, &jit.Runtime{WithoutStart: 2, Methods: []jit.Method{{NativeBytes: 10}, {NativeBytes: 5}}})
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
		text := showtest.Printed(t, show.FormatText, 80, func(p *show.Printer) {
			if err := viewOf(res, "task", pick.NewNames()).Write(p); err != nil {
				t.Fatal(err)
			}
		})
		if head, _, _ := strings.Cut(text, "\n"); head != want {
			t.Errorf("%q, want %q", head, want)
		}
	}
}

// TestCodeless: views that name code have a live process list its methods, the others not.
func TestCodeless(t *testing.T) {
	for _, c := range []struct {
		q    *Question
		args string
		want bool
	}{
		{NewRequests(), "", true},
		{NewRequests(), "--by=endpoint", true},
		{NewRequests(), "--by=path", false},
		{NewRequests(), "--why=x", false},
		{NewThreadPool(), "", true},
		{NewHeap(), "--holding=x", true},
		{NewWaits(), "", false},
		{NewExceptions(), "", false},
	} {
		for _, view := range c.q.codeless {
			if !slices.Contains(c.q.views, view) {
				t.Errorf("%s has no view %q", c.q.name, view)
			}
		}
		cmd := c.q.Command()
		if err := cmd.ParseFlags(strings.Fields(c.args)); err != nil {
			t.Fatal(err)
		}
		if err := c.q.Check(cmd); err != nil {
			t.Fatal(err)
		}
		if got := c.q.Codeless(); got != c.want {
			t.Errorf("%s %s: codeless is %v", c.q.name, c.args, got)
		}
	}
}
