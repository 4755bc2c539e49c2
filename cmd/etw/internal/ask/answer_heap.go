package ask

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/export/gcdump"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewHeap returns the command that shows snapshots of heaps.
func NewHeap() *Question {
	var holding []string
	var path string
	return &Question{
		name:  "heap",
		short: "Show the objects on the heap, and the references that keep them there",
		Long: `Heap shows snapshots of the heaps of .NET programs. RETAINED BYTES would be free
without an object, or without all objects of a type: those that only they keep alive count
with them.

A snapshot is made when a recording begins, so the program must already run: etw
collect -p PID --providers clr:0x1980001:5 --duration 10s. A .gcdump is one, too.

The rows are types, or by --by: the hundred objects that retain most, each with
a path that keeps it alive; who holds types; roots; snapshots; or how types changed from
the first snapshot to the last, of one trace or of several.

Who holds a type is a tree: each row holds that above it, up to the roots, by a shortest
path of each object; objects of one type in a row are one. It is of the ten types that
retain most, or of those that --holding names. A trace tells no class of static fields.

A snapshot makes the process collect, and stops it while the heap is walked.`,
		example: `  etw heap heapdump.nettrace
  etw heap --sort retainedBytes --top 5 heapdump.nettrace
  etw heap --by object --format csv heapdump.nettrace
  etw heap --holding 'System.String' heapdump.nettrace
  etw heap --format json heapdump.nettrace | jq '.snapshots[0].reachableBytes'
  etw heap heapdump.nettrace -o heap.gcdump
  etw heap -p 1234`,
		next:  []show.Suggestion{show.Next("etw allocs", "which types are allocated"), show.Next("etw gc", "the price of collections")},
		views: viewsOf(new(heap.Result)), codeless: viewsOf(new(heap.Result)),
		Needs:  heap.Needs,
		broken: "the trace has events of a snapshot of the heap, but no whole one: the recording ended before, or events were lost",
		flags: func(f *pflag.FlagSet) {
			f.StringVarP(&path, "output", "o", "", "write the snapshot to this `file`, as a .gcdump, and print nothing")
			f.StringSliceVar(&holding, "holding", nil, "say who holds these `TYPES`, by --by holder: full names or last parts, * is any text")
		},
		saves: func(cmd *cobra.Command, args []string, a *answered) (bool, error) {
			if path == "" {
				return false, nil
			}
			return true, saveDump(cmd, path, args, a)
		},
		implied: func() string {
			if len(holding) > 0 {
				return "holder"
			}
			return ""
		},
		ask: func(mux *etw.Mux) answer {
			a := heap.New(mux)
			find := func() *heap.Result {
				res := a.Result()
				if len(holding) > 0 {
					res.Hold(func(name string) bool {
						return slices.ContainsFunc(holding, func(glob string) bool {
							return filter.Glob(glob).Match(name) || filter.Glob(glob).Match(withoutNamespace(name))
						})
					})
				}
				return res
			}
			return &viewed[*heap.Result]{find: find, facts: heapTotals}
		},
	}
}

// withoutNamespace returns the name of a type with its arguments and brackets alone.
func withoutNamespace(name string) string {
	end := strings.IndexAny(name, "[<`")
	if end < 0 {
		end = len(name)
	}
	return name[strings.LastIndexByte(name[:end], '.')+1:]
}

// saveDump writes the only snapshot: one that was read of a dump as it is there, with the
// modules, segments and notes that answers have no use for.
func saveDump(cmd *cobra.Command, path string, args []string, a *answered) error {
	res := a.answer.result().(*heap.Result)
	if n := len(res.Snapshots); n != 1 {
		return cli.Usagef("--output: a .gcdump has one snapshot, and there are %d; choose one by --process, or by --from and --to", n)
	}
	return show.WritePage(cmd, path, args, func(w io.Writer) error {
		if files := a.t.Files(); len(files) == 1 && files[0].Dump() != nil {
			_, err := files[0].Dump().WriteTo(w)
			return err
		}
		return gcdump.Write(w, res.Snapshots[0])
	})
}

func heapTotals(p *page, res *heap.Result) {
	if len(res.Snapshots) > fewRuntimes {
		p.title(fmt.Sprintf("%d snapshots", len(res.Snapshots)))
		p.small(viewOf(res, "snapshot", p.names))
		return
	}
	for _, s := range res.Snapshots {
		p.runtime(s.PID, s.CLRInstance)
		if s.Number > 0 { // a dump does not tell
			p.line("snapshot", "at %s, of collection %d", show.MSOf(s.AtMS), s.Number)
		}
		p.line("objects", "%d, %d bytes", s.Objects, s.Bytes)
		p.line("alive", "%d, %d bytes; the others, %d bytes, wait for finalizers or are held weakly", s.ReachableObjects, s.ReachableBytes, s.UnreachableBytes)
		p.line("references", "%d, %d of them to objects that are not walked", s.References, s.Dangling)
		roots := each.Of(s.Roots, func(r heap.RootKind) string { return fmt.Sprintf("%d %s", r.Count, r.Kind) })
		p.line("roots", "%s", strings.Join(roots, ", "))
	}
}
