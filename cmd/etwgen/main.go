// Etwgen makes Go packages from ETW instrumentation manifests, lists the contents of
// manifests, and reports their faults. It also takes manifests out of programs and traces,
// compiles them, and compares their versions.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/etwgen/etwgen/internal/command"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run executes a command line and returns the exit code. An interrupt ends it at
// once, but for files that are being put in their places.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	stderr = command.CleanWriter{W: stderr}
	done := make(chan int, 1)
	go func() { done <- execute(ctx, args, stdin, stdout, stderr) }()
	select {
	case code := <-done:
		return code
	case <-ctx.Done():
	}
	stop() // the second interrupt waits for nothing
	replacing.Lock()
	select {
	case code := <-done:
		return code
	default:
		fmt.Fprintln(stderr, "etwgen: interrupted")
		return exitDiagnostics
	}
}

func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := command.Execute(ctx, root)
	return exitCode(cmd, err)
}
