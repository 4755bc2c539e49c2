package pick

import (
	"errors"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// OverMappings has a command survive that a trace which is mapped becomes shorter.
func OverMappings(do func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		defer func() {
			switch p := recover().(type) {
			case nil:
			case interface{ Addr() uintptr }: // of the fault
				err = errors.New("a trace became shorter while it was read")
			default:
				panic(p)
			}
		}()
		debug.SetPanicOnFault(true)
		return do(cmd, args)
	}
}
