package look

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/blocks"
	"github.com/etwgen/etwgen/trace"
)

// NewBlocks returns the command that lists what files are made of.
func NewBlocks() *cobra.Command {
	var o show.Output
	cmd := &cobra.Command{
		Use:   "blocks [flags] FILE",
		Short: "List the blocks and buffers of a file",
		Long: `Blocks lists what a file is made of: the blocks of .nettrace and .netperf files, the
buffers of .etl files, in the order in which they lie there, with offset, size, kind,
the times of the events in them and what else their headers say. The same file gives
the same text, so that two can be compared by diff. Where a file is damaged the list
ends with the offset and the reason.`,
		Example: `  etw blocks gc.nettrace
  etw blocks --format csv gc.nettrace
  etw blocks --format json gc.nettrace | jq '.rows | map(.size) | add'`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: pick.CompleteTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Check(cmd); err != nil {
				return err
			}
			f, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			info, err := f.Stat()
			if err != nil {
				return err
			}
			switch {
			case info.IsDir():
				return &trace.Error{File: args[0], Err: errors.New("is a folder")}
			case info.Mode().IsRegular() && info.Size() == 0:
				return &trace.Error{File: args[0], Err: trace.ErrEmpty}
			}
			t := show.NewTable(show.Num("offset"), show.Num("size"), show.Word("kind"), show.Num("firstMs").FromFirst(), show.Num("lastMs").FromFirst(), show.Word("detail"))
			trouble := blocks.List(f, info.Size(), func(b blocks.Block) error {
				t.Add(blockCells(b)...)
				return cmd.Context().Err()
			})
			p := o.Open(cmd, false)
			p.About.Trace = &show.TracesTold{Files: []show.FileTold{{Name: args[0], Truncated: trouble != nil}}}
			if trouble != nil {
				trouble = &trace.Error{File: args[0], Err: trouble}
			}
			p.About.ReadTo(trouble)
			if len(t.Rows) == 0 && trouble != nil {
				return p.Close(trouble)
			}
			return p.Close(t.Write(p), p.Flush(), trouble)
		},
	}
	o.Flags(cmd)
	return cmd
}

func blockCells(b blocks.Block) []string {
	cells := []string{strconv.FormatInt(b.Offset, 10), strconv.FormatInt(b.Size, 10), b.Kind, "", "", b.Detail}
	if b.Times {
		cells[3], cells[4] = fmt.Sprintf("%.4f", b.First), fmt.Sprintf("%.4f", b.Last)
	}
	return cells
}
