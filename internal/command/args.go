package command

import (
	"fmt"

	"github.com/spf13/cobra"
)

// Args checks that a command has that many arguments, most of which is negative if there may
// be any number. Its error ends with the usage of the command.
//
//go:noinline
func Args(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			missing := "an argument is missing"
			if n := least - len(args); n > 1 {
				missing = fmt.Sprintf("%d arguments are missing", n)
			}
			return fmt.Errorf("%s: %s", missing, cmd.UseLine())
		case most >= 0 && len(args) > most:
			return fmt.Errorf("%q is one argument too many: %s", args[most], cmd.UseLine())
		}
		return nil
	}
}
