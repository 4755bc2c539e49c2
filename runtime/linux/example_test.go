package linux_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/etwgen/etwgen/generated/universal/events"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/linux"
)

// How long this process used processors, by samples.
func ExampleStart() {
	s, err := linux.Start(linux.Config{Processes: []int{os.Getpid()}})
	if err != nil {
		fmt.Println("sampled") // another system, or without the right to
		return
	}
	defer s.Close()
	time.AfterFunc(100*time.Millisecond, s.Stop)
	samples := 0
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *events.AnyCPU) error {
		samples++
		return nil
	})
	if err := mux.Run(context.Background(), s); err != nil {
		fmt.Println(err)
	}
	fmt.Println("sampled")
	// Output: sampled
}
