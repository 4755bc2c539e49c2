package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	for file, want := range map[string]string{
		"exceptions.nettrace":  "ExceptionThrown_V1", // a generated type
		"eventsource.nettrace": "Integers",           // a schema from the trace
	} {
		var out strings.Builder
		if err := run(&out, "../../tests/recorded/"+file); err != nil {
			t.Fatal(err)
		}
		seen := false
		for line := range strings.Lines(out.String()) {
			var v struct {
				Msg    string
				Fields map[string]any
				Error  string
			}
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatalf("%s: %v in %s", file, err, line)
			}
			if v.Error != "" {
				t.Errorf("%s: %s", file, line)
			}
			seen = seen || v.Msg == want && len(v.Fields) > 0
		}
		if !seen {
			t.Errorf("%s: no %s in\n%s", file, want, out.String())
		}
	}
}
