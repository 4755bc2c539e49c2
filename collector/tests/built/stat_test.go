package built

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// A row is the key of events in etw stat, and log records have, too.
type row struct {
	File     string `json:"file"`
	Provider string `json:"guid"`
	ID       int64  `json:"id"`
	Version  int64  `json:"version"`
	Opcode   int64  `json:"opcode"`
}

// A place is a key that etw stat counts by if told to.
type place struct {
	File    string `json:"file"`
	Level   string `json:"level"`
	Process int64  `json:"pid"`
	Thread  int64  `json:"tid"`
	CPU     int64  `json:"cpu"`
}

// levels are those of events, by their numbers.
var levels = []string{"logalways", "critical", "error", "warning", "informational", "verbose"}

// stat returns the output of etw stat for a trace.
func stat[K comparable](t *testing.T, tool, path string, options ...string) map[K]int {
	t.Helper()
	out, err := exec.Command(tool, append([]string{"stat", "--format", "json", path}, options...)...).Output()
	if err != nil && len(out) == 0 { // of one that breaks off it says what there is
		t.Fatalf("%s: %v", path, err)
	}
	var doc struct{ Rows []json.RawMessage }
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	all := make(map[K]int)
	for _, text := range doc.Rows {
		var count struct {
			Count int
			Bytes *int64 // of events that are there
		}
		var key K
		testio.JSON(t, text, &count)
		testio.JSON(t, text, &key)
		if count.Bytes != nil {
			all[key] += count.Count
		}
	}
	return all
}

// exported calls do for each log record that is an event, with the name of its trace.
func exported(t *testing.T, out string, do func(file string, r plog.LogRecord)) {
	t.Helper()
	f := testio.File(t, filepath.Join(out, "out.jsonl"))
	defer f.Close()
	in := bufio.NewReader(f)
	for {
		line, err := in.ReadBytes('\n')
		if i := bytes.LastIndex(line, []byte(`{"resourceLogs"`)); i > 0 {
			line = line[i:] // behind one that was cut off
		}
		if data, bad := (&plog.JSONUnmarshaler{}).UnmarshalLogs(line); bad == nil {
			for _, of := range data.ResourceLogs().All() {
				name, _ := of.Resource().Attributes().Get("log.file.name")
				for _, scope := range of.ScopeLogs().All() {
					for _, r := range scope.LogRecords().All() {
						if scope.Scope().Name() != "etwgen" {
							do(name.AsString(), r)
						}
					}
				}
			}
		}
		if err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// number returns an attribute, or its default.
func number(m pcommon.Map, key string, none int64) int64 {
	if v, ok := m.Get(key); ok {
		return v.Int()
	}
	return none
}

// compareWithTool compares the log records with the output of the tool for the same files:
// how many events there are of each kind, and of each level, process, thread and processor.
func compareWithTool(t *testing.T, in, out string) {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "etw")
	build := exec.Command("go", "build", "-o", tool, "./cmd/etw")
	build.Dir = "../../.."
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	kinds, places := make(map[row]int), make(map[place]int)
	exported(t, out, func(file string, r plog.LogRecord) {
		m := r.Attributes()
		provider, _ := m.Get("etw.provider.id")
		kinds[row{file, provider.Str(), number(m, "etw.event.id", 0), number(m, "etw.version", 0), number(m, "etw.opcode", 0)}]++
		places[place{file, levels[number(m, "etw.level", 0)], number(m, "etw.process.id", -1), number(m, "etw.thread.id", -1), number(m, "etw.cpu", -1)}]++
	})
	wantKinds, wantPlaces := make(map[row]int), make(map[place]int)
	events := 0
	laid, _ := filepath.Glob(filepath.Join(in, "*"))
	for _, path := range laid {
		for k, n := range stat[row](t, tool, path) {
			k.File = filepath.Base(path)
			wantKinds[k] += n
			events += n
		}
		for k, n := range stat[place](t, tool, path, "--by", "level,process,thread,cpu") {
			k.File = filepath.Base(path)
			wantPlaces[k] += n
		}
	}
	same := agree(t, kinds, wantKinds)
	t.Logf("%d of %d kinds of events of %d traces have the count that etw stat has: %d events", same, len(wantKinds), len(laid), events)
	same = agree(t, places, wantPlaces)
	t.Logf("%d of %d combinations of level, process, thread and processor have", same, len(wantPlaces))
}

// agree returns how many counts are the same, and says of others.
func agree[K comparable](t *testing.T, got, want map[K]int) (same int) {
	t.Helper()
	shown := 0
	say := func(k K) {
		if shown++; shown <= 5 {
			t.Errorf("%s: %d log records, %d events", fmt.Sprintf("%+v", k), got[k], want[k])
		}
	}
	for k, n := range want {
		if got[k] == n {
			same++
		} else {
			say(k)
		}
	}
	for k := range got {
		if want[k] == 0 {
			say(k)
		}
	}
	return same
}
