package peers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

// tracesVariable names a folder of traces that are held against TraceEvent, too.
const tracesVariable = "ETWGEN_PEERS_TRACES"

// TestOwnTraces asks TraceEvent, here and now, about traces that nobody has its
// answers of: those of a folder. All is compared that is of the corpus.
func TestOwnTraces(t *testing.T) {
	dir := os.Getenv(tracesVariable)
	if dir == "" {
		t.Skip("no folder of traces: " + tracesVariable)
	}
	paths := testio.Glob(t, filepath.Join(dir, "*.net*"))
	peer := unpackPeer(t)
	fields := &fieldTotals{reasons: map[string]int{}}
	sum := newTotals()
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s := &sheet{t: t, file: filepath.Base(path), theirs: new(answer), total: sum}
			path = unpackedTrace(t, path)
			s.ask(peer, path)
			s.readTrace(path)
			for _, topic := range slices.Sorted(maps.Keys(comparisons)) {
				s.topic = topic
				comparisons[topic](s)
			}
			c := &eventComparison{t: t, file: s.file, total: fields}
			c.compare(peer, path)
		})
	}
	for _, topic := range slices.Sorted(maps.Keys(comparisons)) {
		t.Logf("%-12s %7d figures of %2d traces, %d with a reason", topic, sum.compared[topic], len(sum.traces[topic]), sum.explained[topic])
	}
	t.Logf("%d events, %d fields, %d with a reason", fields.events, fields.fields, fields.explained)
}

// questions are the commands of the program that asks TraceEvent. The answer to the
// one of several lines is a list.
var questions = []string{"info", "counts", "gc", "jit", "exceptions", "contention", "allocs", "waits", "threadpool", "loader",
	"requests", "counters", "stacks", "heap"}

// ask puts TraceEvent's answers together as the corpus has them.
func (s *sheet) ask(peer, path string) {
	all := map[string]json.RawMessage{}
	for _, question := range questions {
		out, err := exec.CommandContext(s.t.Context(), peer, question, path).Output()
		switch {
		case err != nil && question == "heap": // of a trace without a snapshot
			continue
		case err != nil:
			s.t.Logf("TraceEvent fails: %s: %v", question, err)
			continue
		case question == "counters":
			var lines []string
			scanner := bufio.NewScanner(bytes.NewReader(out))
			scanner.Buffer(nil, 1<<24)
			for scanner.Scan() {
				lines = append(lines, scanner.Text())
			}
			out = []byte("[" + strings.Join(lines, ",") + "]")
		}
		all[question] = out
	}
	b, err := json.Marshal(all)
	if err == nil {
		err = json.Unmarshal(b, s.theirs)
	}
	if err != nil {
		s.t.Fatalf("%s: %v", s.file, err)
	}
}
