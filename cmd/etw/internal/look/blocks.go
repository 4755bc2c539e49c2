package look

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/blocks"
	"github.com/etwgen/etwgen/trace"
)

// listBlocks lists the parts of a file.
func (o *info) listBlocks(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return cli.Usagef("--blocks is about one FILE")
	}
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return err
	}
	switch {
	case stat.IsDir():
		return &trace.Error{File: args[0], Err: errors.New("is a folder")}
	case stat.Mode().IsRegular() && stat.Size() == 0:
		return &trace.Error{File: args[0], Err: trace.ErrEmpty}
	}
	t := show.NewTable(show.Num("offset"), show.Num("size"), show.Word("kind"), show.Num("firstMs").FromFirst(), show.Num("lastMs").FromFirst(), show.Word("detail"))
	trouble := blocks.List(f, stat.Size(), func(b blocks.Block) error {
		t.Add(blockCells(b)...)
		return cmd.Context().Err()
	})
	p := o.out.Open(cmd, false)
	p.About.Trace = &show.TracesTold{Files: []show.FileTold{{Name: args[0], Truncated: trouble != nil}}}
	if trouble != nil {
		trouble = &trace.Error{File: args[0], Err: trouble}
	}
	p.About.ReadTo(trouble)
	if len(t.Rows) == 0 && trouble != nil {
		return p.Close(trouble)
	}
	return p.Close(t.Write(p), p.Flush(), trouble)
}

func blockCells(b blocks.Block) []string {
	cells := []string{strconv.FormatInt(b.Offset, 10), strconv.FormatInt(b.Size, 10), b.Kind, "", "", b.Detail}
	if b.Times {
		cells[3], cells[4] = fmt.Sprintf("%.4f", b.First), fmt.Sprintf("%.4f", b.Last)
	}
	return cells
}
