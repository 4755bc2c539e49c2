package ship

import (
	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/compare"
	work "github.com/etwgen/etwgen/analysis/kinds"
	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// figures begins the table of the numbers that compare asks a trace for, which are of all analyses, and
// returns what writes it.
func (x *tableReader) figures(cmd *cobra.Command) (func() error, error) {
	c := &comparing{rules: work.Default()}
	files, err := c.symbols.Open(cmd)
	if err != nil {
		return nil, err
	}
	x.set, x.code = analysis.New(&x.mux), frames.NewCodeMap(files)
	s := &sideReader{c: c, code: x.code, cpu: x.samplesOf(samples.Find("cpu"))}
	var span pick.TimeSpan
	all := new(filter.Header)
	s.machine = s.machineOf(x.t, all)
	span.Bound(x.t.Bounds())
	x.see = func(r *etw.Record) {
		span.See(r, x.t.Elapsed(r), all, nil)
		s.see(r)
	}
	return func() error {
		res := x.set.Result()
		f := &parquet.Figures{Runtime: s.told}
		f.List, f.Samples, _ = s.figures(res, span.Within(all, x.t))
		f.List = compare.Per(f.List, 1)
		served, of := servedBy(res.Requests)
		f.Requests, f.RequestsOf = int64(served), of
		return x.w.Figures(f, x.t.Start())
	}, nil
}
