package eventpipetest_test

import (
	"context"
	"fmt"
	"os"

	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

// A runtime that plays a recording to whoever attaches to it.
func ExampleRuntime() {
	recording, err := os.ReadFile("../../../tests/recorded/gc.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	rt := eventpipetest.NewRuntime(10)
	rt.Play(recording)
	folder, err := os.MkdirTemp("", "etw") // short: the path of a socket has 107 bytes
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path, stop, err := rt.Listen(folder)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()

	ctx := context.Background()
	c, err := eventpipe.DialSocket(ctx, path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	info, err := c.Info(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("process", info.PID)
	// Output: process 4711
}
