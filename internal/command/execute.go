package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"
)

// Execute runs the command line of root. Unlike package cobra it returns an error if
// help cannot be written, or is asked for of a command that there is not.
func Execute(ctx context.Context, root *cobra.Command) (*cobra.Command, error) {
	var failed error
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out := root.OutOrStdout()
		w := &keepError{w: out}
		root.SetOut(w)
		help(cmd, args)
		root.SetOut(out)
		failed = w.err
	})
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Run, c.RunE = nil, helpOn
		}
	}
	cmd, err := root.ExecuteContextC(ctx)
	return cmd, cmp.Or(err, failed)
}

// helpOn is the command help.
func helpOn(cmd *cobra.Command, args []string) error {
	about, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 && about == cmd.Root() {
		return fmt.Errorf("unknown command %q for %q", args[0], cmd.Root().Name())
	}
	about.InitDefaultHelpFlag()
	return about.Help()
}

// A keepError is a writer that remembers the first error.
type keepError struct {
	w   io.Writer
	err error
}

func (k *keepError) Write(p []byte) (int, error) {
	n, err := k.w.Write(p)
	k.err = cmp.Or(k.err, err)
	return n, err
}

// IsOutput reports whether err says that a file, such as the standard output, cannot be
// written.
func IsOutput(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && path.Op == "write"
}
