package table_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
)

type wait struct {
	ms     measure.Float
	owner  int64
	of     string
	change int
	pool   bool
}

type process struct {
	id    int64
	waits []wait
}

func (p process) pid() int64 { return p.id }

func waitsOf(parts ...process) table.View {
	return table.Each("wait", "Waits", parts, process.pid, func(p process) []wait { return p.waits },
		table.Amount("durationMs", func(w wait) measure.Float { return w.ms }),
		table.ID("owner", func(w wait) int64 { return w.owner }).Positive(),
		table.Count("change", func(w wait) int { return w.change }).IfAny(),
		table.Flag("pool", func(w wait) bool { return w.pool }),
		table.ThreadName("name", func(w wait) int64 { return w.owner }),
		table.Text("lock", func(w wait) string { return w.of }).About())
}

// all returns the cells of a view, row by row.
func all(v table.View) string {
	var b strings.Builder
	for row := range v.Rows {
		for i := range v.Heads {
			fmt.Fprintf(&b, "%s|", v.At(row, i).Text())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestEach(t *testing.T) {
	v := waitsOf(process{1, []wait{{of: "a"}, {ms: measure.Known(0.5), owner: 7, of: "b", change: -3}}}, process{2, []wait{{ms: measure.Known(2), of: "c", pool: true}}})
	if got, want := all(v), "1||||0|no||a|\n1||0.5|7|-3|no||b|\n2||2||0|yes||c|\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// The longest first, and unknown values last.
	if got, want := all(v.Sorted("durationMs")), "2||2||0|yes||c|\n1||0.5|7|-3|no||b|\n1||||0|no||a|\n"; got != want {
		t.Errorf("sorted: %q, want %q", got, want)
	}
	if got, want := all(v.Sorted("durationMs").Rising("durationMs")), "1||0.5|7|-3|no||b|\n2||2||0|yes||c|\n1||||0|no||a|\n"; got != want {
		t.Errorf("rising: %q, want %q", got, want)
	}
	for i, want := range []bool{false, true, false, false, false, false, false, false} {
		if v.Heads[i].Kind != table.Process && v.Empty(i) != want && i != 1 {
			t.Errorf("%s is empty: %v", v.Heads[i].Name, !want)
		}
	}
	if v.Heads[0].Audience != table.Everyone || waitsOf(process{1, nil}).Heads[0].Audience != table.Programs {
		t.Error("people see the process where there is one, and not where there are several")
	}
}

func TestEmpty(t *testing.T) {
	v := waitsOf(process{1, []wait{{of: "a"}}})
	var empty []string
	for i, h := range v.Heads {
		if v.Empty(i) {
			empty = append(empty, h.Name)
		}
	}
	if got := strings.Join(empty, " "); got != "durationMs owner change" {
		t.Errorf("%q are empty", got)
	}
}

func TestUnits(t *testing.T) {
	number := func(struct{}) float64 { return 0 }
	for name, want := range map[string]string{
		"pauseMs": "Pause ms 3", "ms": "Time ms 3", "promotedMB": "Promoted MB 3", "MB": "Size MB 3", "sharePercent": "Share % 1", "allocationRateMBPerSec": "Allocation rate MB/s 1",
		"throughputPerSec": "Throughput a second 1", "nativeBytes": "Native bytes 0", "bytesRead": "Bytes read bytes 0", "value": "Value  3", "clrInstance": "Clr instance  3", "pdbGUID": "Pdb GUID  3",
	} {
		h := table.Of("", "", nil, table.Amount(name, number)).Heads[0]
		if got := fmt.Sprint(h.Label, " ", h.Unit, " ", h.Digits); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
