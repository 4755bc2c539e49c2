package code

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// A SampleCommand is a command about samples.
type SampleCommand struct {
	*cobra.Command
	Of   *Profiling
	Form *show.Output // nil if it writes a file
}

// Check reads the flags that do not depend on the traces.
func (c *SampleCommand) Check(cmd *cobra.Command) error {
	if c.Form != nil {
		if err := c.Form.Check(cmd); err != nil {
			return err
		}
	}
	return cmp.Or(c.Of.Check(), c.Of.CheckKind())
}
