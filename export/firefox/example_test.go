package firefox_test

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/export/firefox"
)

// A sample of one thread, for https://profiler.firefox.com.
func Example() {
	s := stacks.NewSamples("cpu", stacks.ValueType{Name: "time", Unit: "nanoseconds"})
	s.AddStack(time.Unix(0, 0), 1, 2, s.InternAddresses(1, []uint64{0x10}), 0, 1_000_000)
	p := &firefox.Profile{Product: "app", Samples: stacks.NewProfile(nil, stacks.Options{}, s),
		Process: func(int64) string { return "app" }, Thread: func(int64) string { return "main" }}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Contains(b.String(), `"weight":[1],"weightType":"tracing-ms"`))
	// Output:
	// true
}
