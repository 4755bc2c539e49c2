package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestAsyncCallers: work for a request has those as its callers that await it, and not the
// thread pool, nor the code that completed the task that was awaited.
func TestAsyncCallers(t *testing.T) {
	path := "../../tests/recorded/causes/cause-10.nettrace.gz"
	for _, of := range []string{"GET /bake", "GET /share", "GET /order"} {
		out, stderr, code := output("top", "--by", "stack", "--activity", of, "--names", "short", "--format", "json", path)
		var res struct {
			Rows []struct{ Stack []string }
		}
		if err := json.Unmarshal([]byte(out), &res); err != nil || code != 0 || len(res.Rows) == 0 {
			t.Fatalf("%s: %d, %s, %v: %.300s", of, code, stderr, err, out)
		}
		served := 0
		for _, s := range res.Rows {
			all := ";" + strings.Join(s.Stack, ";") + ";"
			if strings.Contains(all, ";ThreadPoolWorkQueue.Dispatch;") && strings.Contains(all, ";Program.") {
				t.Errorf("%s: %s", of, all)
			}
			if strings.Contains(all, ";Program.Serve;") {
				served++
			}
		}
		if served == 0 {
			t.Errorf("%s: no stack has who serves", of)
		}
	}
}
