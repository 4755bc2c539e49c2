package ship

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/export/parquet"
)

// checkFigures refuses flags that would have to read the traces.
func (c *comparing) checkFigures(cmd *cobra.Command) error {
	for _, flag := range []string{"root", "benchmark", "process", "children", "activity", "during", "from", "to", "symbols", "symbol-path", "no-symbols"} {
		if f := cmd.Flags().Lookup(flag); f != nil && f.Changed {
			return cli.Usagef("--figures: they are of whole recordings, and --%s does nothing with them", flag)
		}
	}
	if c.unit.event != nil || c.unit.text == PerOperation && c.unit.given[0] == 0 {
		return cli.Usagef("--per %s: of figures it takes %s, %s and numbers", c.unit.text, perSeconds, perRequest)
	}
	return nil
}

// readFigures reads the figures of the recordings in the files of the sides.
func (c *comparing) readFigures(cmd *cobra.Command, sides [2]*side) (trouble, err error) {
	if err := c.checkFigures(cmd); err != nil {
		return nil, err
	}
	for i, s := range sides {
		lack := 0
		files := s.paths
		for s.paths = nil; len(files) > 0; files = files[1:] {
			err := eachFigures(files[0], func(f *parquet.Figures) error {
				r, err := c.recorded(f, i)
				if err != nil {
					return err
				}
				if !f.Complete || f.Lost > 0 {
					lack++
				}
				s.paths = append(s.paths, r.path)
				s.add(r, true)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		if lack > 0 {
			cli.Report(cmd, fmt.Errorf("of %s %s of %d are damaged or lost events", sideNames[i], show.Count(lack, "recording", "recordings"), len(s.runs)))
			trouble = cli.ErrReported
		}
	}
	return trouble, nil
}

// eachFigures calls do for each recording of a file of figures.
func eachFigures(path string, do func(*parquet.Figures) error) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	d := json.NewDecoder(in)
	for n := 1; ; n++ {
		f := new(parquet.Figures)
		switch err := d.Decode(f); {
		case err == io.EOF && n > 1:
			return nil
		case err == nil && f.Schema != parquet.FiguresSchema:
			err = fmt.Errorf("its schema is %d, not %d", f.Schema, parquet.FiguresSchema)
			fallthrough
		case err != nil:
			return fmt.Errorf("%s is no file of etw-lake figures: recording %d: %w", path, n, err)
		}
		if err := do(f); err != nil {
			return err
		}
	}
}

// recorded returns the run that a recording was.
func (c *comparing) recorded(f *parquet.Figures, number int) (*comparedRun, error) {
	r := &comparedRun{path: f.Trace + " (" + f.TraceID + ")", samples: f.Samples, told: f.Runtime, lost: f.Lost, per: 1}
	none := ""
	switch u := &c.unit; {
	case u.given[number] > 0:
		r.per = u.given[number]
	case u.text == perSeconds:
		r.per, none = 0, "has no time between its start and its last event"
		if i := slices.IndexFunc(f.List, func(x compare.Figure) bool { return x.Metric == "trace.durationMs" }); i >= 0 {
			r.per = f.List[i].Value / 1000
		}
	case u.text == perRequest:
		r.per, r.perOf, none = float64(f.Requests), f.RequestsOf, "has no requests that ended"
	}
	if r.per <= 0 {
		return nil, cli.Usagef("--per %s: %s %s", c.unit.text, r.path, none)
	}
	r.figures = compare.Per(f.List, r.per)
	return r, nil
}
