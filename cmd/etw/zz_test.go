package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
)

func TestZZ(t *testing.T) {
	var shelf cli.Shelf
	ctx := context.WithValue(context.Background(), cli.ShelfKey{}, &shelf)
	ask := func(args ...string) {
		var out, e bytes.Buffer
		at := time.Now()
		c := runIn(ctx, append(append([]string{os.Getenv("ZZQ")}, args...), "--format=json", "--", "/tmp/view/ten.nettrace"), strings.NewReader(""), &out, &e)
		fmt.Println(c, out.Len(), time.Since(at), args)
	}
	ask()
	ask("--from=100ms", "--to=900ms")
	for _, w := range []string{os.Getenv("ZZ")} {
		f, _ := os.Create("/tmp/view/cpu.prof")
		pprof.StartCPUProfile(f)
		for i := range 15 {
			ask(fmt.Sprintf("--from=%dms", 1000+i*100), "--to="+w)
		}
		pprof.StopCPUProfile()
		f.Close()
	}
}
