package main

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

func TestRun(t *testing.T) {
	for _, test := range []struct {
		file, message string
		lines         int
	}{
		{"exceptions.nettrace", "ExceptionThrown_V1", 29},  // a generated type
		{"rundown.nettrace", "MethodDCEndVerbose_V1", 407}, // one of the other package
		{"eventsource.nettrace", "Integers", 23},           // a schema from the trace
		{"lost.nettrace", "events were lost", 1140 + 1},    // what is not in it
	} {
		var out strings.Builder
		if err := run(&out, "../../tests/recorded/"+test.file); err != nil {
			t.Fatal(err)
		}
		lines := 0
		seen := false
		for line := range strings.Lines(out.String()) {
			var v struct {
				Msg    string
				Fields map[string]any
				Error  string
				Count  int
			}
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatalf("%s: %v in %s", test.file, err, line)
			}
			if v.Error != "" {
				t.Errorf("%s: %s", test.file, line)
			}
			seen = seen || v.Msg == test.message && (len(v.Fields) > 0 || v.Count == 7861)
			lines++
		}
		if !seen || lines != test.lines {
			t.Errorf("%s: %d lines, want %d, one of them %s:\n%s", test.file, lines, test.lines, test.message, out.String())
		}
	}
}

// TestBytes ships undescribed events, and misdescribed ones: neither is lost.
func TestBytes(t *testing.T) {
	var out strings.Builder
	logger := slog.New(slog.NewTextHandler(&out, nil))
	decoder := etw.NewDecoder(clr.Provider)
	for _, test := range []struct {
		rec  etw.Record
		want string
	}{
		{etw.Record{ID: 999, Version: 3, Payload: []byte{1, 0xab}}, `msg=Event999 provider=00000000-0000-0000-0000-000000000000 pid=0 tid=0 fields="01 ab"`},
		{etw.Record{Provider: clr.Provider.Desc.GUID, ID: 1, Payload: []byte{7}}, `error="etw: `},
	} {
		test.rec.Clock = &etw.Clock{Frequency: 1e9}
		out.Reset()
		if err := ship(logger, decoder, &test.rec); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), test.want) {
			t.Errorf("got %s want %s", out.String(), test.want)
		}
	}
}
