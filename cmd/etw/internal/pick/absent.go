package pick

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// CheckMet is for an answer with nothing in it: it returns an error if that is so because the
// traces know no process or thread with a number that was asked for. To find that takes a pass
// of its own.
func CheckMet(cmd *cobra.Command, in *Input, paths []string, h *filter.Header) error {
	if len(h.Processes)+len(h.Threads) == 0 || cli.IsLive(cmd) || cmd.Context().Err() != nil || slices.Contains(paths, trace.Stdin) {
		return nil
	}
	k, err := knownIn(cmd, in, paths)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		flag, things string
		asked        filter.Numbers
		met          map[int64]int
		name         func(int64) string
	}{{"process", "processes", h.Processes, k.processes, k.OfProcess}, {"tid", "threads", h.Threads, k.threads, k.OfThread}} {
		ids := slices.Collect(maps.Keys(x.met))
		order.Sort(ids, func(a, b int64) int { return cmp.Or(cmp.Compare(x.met[b], x.met[a]), cmp.Compare(a, b)) })
		if !slices.ContainsFunc(ids, x.asked.Has) {
			names := each.Of(ids, func(id int64) string { return x.name(id) })
			asked, _ := cmd.Flags().GetStringArray(x.flag)
			return cli.Usagef("no event is of --%s %s; the %s of the trace, those with most events first: %s", x.flag, Listed(asked), x.things, Listed(names))
		}
	}
	return nil
}

// A known is the processes and threads of a trace, of which events are or tell names.
type known struct {
	*Names
	processes, threads map[int64]int // events of each
}

// knownIn returns the processes and threads of traces.
func knownIn(cmd *cobra.Command, in *Input, paths []string) (*known, error) {
	return cli.Kept(cmd, fmt.Sprint("names ", in.Key(), cli.Stamps(paths)), func() (*known, error) {
		t, _, err := in.Open(cmd, paths, false)
		if err != nil {
			return nil, err
		}
		defer t.Close()
		k, decoder := &known{NewNames(), make(map[int64]int), make(map[int64]int)}, builtin.NewDecoder()
		err = Once(cmd, t, func(rec *etw.Record) error {
			k.processes[rec.ProcessID]++
			k.threads[rec.ThreadID]++
			k.Learn(decoder, rec, decoder.Event(rec))
			return nil
		})
		k.Join()
		for pid := range k.Processes {
			k.processes[pid] += 0
		}
		for tid := range k.Threads {
			k.threads[tid] += 0
		}
		delete(k.processes, -1) // of records that tell none
		delete(k.threads, -1)
		return k, err
	})
}
