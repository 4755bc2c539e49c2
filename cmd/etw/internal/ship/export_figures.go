package ship

import (
	"github.com/spf13/cobra"

	work "github.com/etwgen/etwgen/analysis/kinds"
	"github.com/etwgen/etwgen/export/parquet"
)

// figures makes the table of the numbers that compare asks a trace for.
func (x *tableReader) figures(o *exporting, cmd *cobra.Command, path string) {
	x.ends = append(x.ends, func() error {
		r, err := (&comparing{in: o.in, rules: work.Default()}).read(cmd, path, 0)
		if err != nil {
			return err
		}
		return x.w.Figures(&parquet.Figures{List: r.figures, Samples: r.samples, Runtime: r.told, Requests: r.served, RequestsOf: r.servedOf}, x.t.Start())
	})
}
