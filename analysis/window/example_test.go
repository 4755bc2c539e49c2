package window_test

import (
	"fmt"
	"time"

	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A wait of two seconds goes over the end of the time that is asked for.
func Example() {
	var mux etw.Mux
	w := window.Of(&mux)
	begin := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	w.Between(begin, begin.Add(10*time.Second))
	from, to := w.Clip(begin.Add(9*time.Second).UnixNano(), begin.Add(11*time.Second).UnixNano())
	fmt.Println(time.Duration(to - from))
	// Output: 1s
}
