package command

import (
	"context"
	"io"
	"io/fs"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// full is a file on a disk that is full.
type full struct{}

func (full) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "out", Err: syscall.ENOSPC}
}

// TestExecute: help that cannot be written is an error of the output, and help on a
// command that there is not is an error of another kind.
func TestExecute(t *testing.T) {
	execute := func(out io.Writer, args ...string) error {
		root := &cobra.Command{Use: "tool", SilenceErrors: true, SilenceUsage: true, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
		SetVersion(root)
		Add(root, &cobra.Command{Use: "work", Short: "Work", RunE: func(*cobra.Command, []string) error { return nil }})
		root.SetOut(out)
		root.SetErr(io.Discard)
		root.SetArgs(args)
		_, err := Execute(context.Background(), root)
		return err
	}
	for _, args := range [][]string{nil, {"help"}, {"--help"}, {"help", "work"}, {"work", "--help"}, {"help", "help"}, {"--version"}, {"completion", "bash"}} {
		if err := execute(full{}, args...); !IsOutput(err) {
			t.Errorf("%q: %v, want the error of the output", args, err)
		}
		if err := execute(io.Discard, args...); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
	if err := execute(io.Discard, "help", "nothing"); err == nil || IsOutput(err) {
		t.Errorf("help on a command that there is not: %v", err)
	}
}
