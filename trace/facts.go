package trace

import (
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// facts collects facts.
type facts []Fact

func (f *facts) add(key string, value any, text string) {
	*f = append(*f, Fact{key, value, text})
}

// text adds a text that may be missing.
func (f *facts) text(key, value string) {
	if value != "" {
		f.add(key, value, value)
	}
}

func (f *facts) number(key string, n int64, unit string) {
	f.add(key, n, strings.TrimRight(strconv.FormatInt(n, 10)+" "+unit, " "))
}

// nonzero adds a count that should be 0.
func (f *facts) nonzero(key string, n int64, unit string) {
	if n != 0 {
		f.number(key, n, unit)
	}
}

func (f *facts) time(key string, t etw.FileTime) { f.add(key, t.String(), t.String()) }

func (f *facts) duration(d time.Duration) {
	f.add("durationMs", float64(d)/1e6, d.String())
}

func (f *facts) packing(how []string) {
	if len(how) > 0 {
		f.text("packing", strings.Join(how, ", "))
	}
}

// ended says whether the trace ended as it should.
func (f *facts) ended(cleanly bool, text string) { f.add("endedCleanly", cleanly, text) }
