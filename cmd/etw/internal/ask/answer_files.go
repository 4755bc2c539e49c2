package ask

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewFiles returns the command that shows requests to the file system.
func NewFiles() *Question {
	return &Question{
		name:  "files",
		short: "Show requests to files: reads, writes, bytes and time",
		Long: `Files shows the requests of programs to the file system: how often each file was opened,
read and written, how many bytes were asked for, and how long that took. Operations
may run at the same time, so that their times add up to more than passed.

--disks shows the part that went to disks; the rest was in memory: for which file,
how many times, how many bytes, how long the disk took to answer, and how much of that it
served the request: after the one before was answered. Requests without a file are
(unknown): flushes, and those of the file system itself.

--faults shows hard faults: memory that a thread touched and that came from a file first,
for which it waited. It tells which file, how many, how long, and when: the first, the
longest, the last.

--registry shows operations on keys of the registry, each with its whole path; not yet seen
on a real recording.

The rows are files, of the registry keys, or by --by: processes, or files by process (access).`,
		example: `  etw files machine.etl
  etw files --by access --process child.exe --format csv machine.etl
  etw files --disks machine.etl
  etw files --disks --by disk machine.etl
  etw files --faults --by access machine.etl
  etw files --format json machine.etl | jq '.files[].reads'`,
		next: []show.Suggestion{
			show.Next("etw files --disks", "the part that came to disks"),
			show.Next("etw top --of files", "which code reads and writes"),
			show.Next("etw top --of disk", "which code waits for disks"),
		},
		views: viewsOf(new(system.FilesResult)),
		Needs: []need.Need{need.Files},
		clips: true,
		ask: func(mux *etw.Mux) answer {
			return aboutMachine(mux, filesOf(mux), fileTotals)
		},
		others: []*Question{disks(), faults(), registry()},
	}
}

// filesOf returns the analysis of the files of the processes that are asked for.
func filesOf(mux *etw.Mux) func(chosen) *system.FilesResult {
	files := system.FilesOf(mux)
	return func(is chosen) *system.FilesResult {
		res := files.Result()
		res.Files = order.Delete(res.Files, func(f system.FileFacts) bool { return !is(int64(f.PID), f.Process) })
		res.Unanswered = order.Delete(res.Unanswered, func(x system.Unanswered) bool { return !is(int64(x.PID), x.Process) })
		return res
	}
}

func fileTotals(p *page, res *system.FilesResult) {
	sum := res.Sum()
	p.title("files")
	all := res.All()
	told := func(anywhere uint64, text string) string {
		if anywhere == 0 { // not recorded, or nothing was
			return "unknown: no event tells of it"
		}
		return text
	}
	p.line("opened", "%s", told(all.Opens, show.Count(sum.Opens, "time", "times")))
	p.line("read", "%s", told(all.Reads, show.Size(float64(sum.BytesRead))+" in "+show.Count(sum.Reads, "operation", "operations")))
	p.line("written", "%s", told(all.Writes, show.Size(float64(sum.BytesWritten))+" in "+show.Count(sum.Writes, "operation", "operations")))
}

// disks is the side of files that shows the use of disks.
func disks() *Question {
	return &Question{
		name:  "disks",
		short: "show reads and writes of disks",
		views: viewsOf(system.DisksResult{FilesResult: new(system.FilesResult)}),
		Needs: []need.Need{need.Disks},
		clips: true,
		ask: func(mux *etw.Mux) answer {
			find, m := filesOf(mux), system.Of(mux)
			return aboutMachine(mux, func(is chosen) system.DisksResult { return system.DisksResult{FilesResult: find(is)} },
				func(p *page, res system.DisksResult) { diskTotals(p, res, m.Facts().Disks) })
		},
	}
}

func diskTotals(p *page, res system.DisksResult, known []system.Disk) {
	for _, d := range res.Disks() {
		p.title(fmt.Sprintf("disk %d", d.Disk))
		for _, x := range known {
			if x.Number == d.Disk {
				p.line("model", "%s", x.Model)
			}
		}
		p.line("read", "%s in %s", show.Size(float64(d.BytesRead)), show.Count(d.Reads, "request", "requests"))
		p.line("written", "%s in %s", show.Size(float64(d.BytesWritten)), show.Count(d.Writes, "request", "requests"))
		p.line("served", "for %s, of %s from asking to the answer", show.MS(d.ServiceMS), show.MS(d.MS))
		if t, ok := res.TimeOf(d.Disk); ok {
			least := ""
			if res.Partial {
				least = "at least "
			}
			p.line("busy", "%s%s, for all processes", least, show.MS(t.BusyMS))
			if t.MaxQueueDepth == 0 {
				continue // none began in the part of the time
			}
			p.line("queue", "%.2f requests on average when one began, %d at most", t.QueueDepth, t.MaxQueueDepth)
		}
	}
	if list := res.Unanswered; len(list) > 0 {
		p.title("without an answer in the trace")
		p.line("requests", "%d, for %s at the longest: asked at %s by %s", len(list), show.MS(list[0].MS), show.MS(list[0].AtMS), list[0].Asker())
	}
}

// faults is the side of files that shows hard faults.
func faults() *Question {
	return &Question{
		name:  "faults",
		short: "show hard faults: memory that came from files when it was touched",
		views: viewsOf(new(system.FaultsResult)),
		Needs: []need.Need{need.Faults},
		clips: true,
		ask: func(mux *etw.Mux) answer {
			faults := system.NewFaults(mux)
			return aboutMachine(mux, func(is chosen) *system.FaultsResult {
				res := faults.Result()
				res.Faults = order.Delete(res.Faults, func(f system.FaultFacts) bool { return !is(int64(f.PID), f.Process) })
				return res
			}, faultTotals)
		},
	}
}

func faultTotals(p *page, res *system.FaultsResult) {
	sum := res.Sum()
	p.title("hard faults")
	p.line("faults", "%d, %s", sum.Faults, show.Size(float64(sum.Bytes)))
	p.line("waited", "%s, the longest %s at %s", show.MS(sum.MS), show.MS(sum.LongestMS), show.MS(sum.LongestAtMS))
}

// registry is the side of files that shows the use of the registry, which is kept in files, too.
func registry() *Question {
	return &Question{
		name:  "registry",
		short: "show operations on keys of the registry",
		views: viewsOf(new(system.RegistryResult)),
		Needs: []need.Need{need.Registry},
		clips: true,
		ask: func(mux *etw.Mux) answer {
			registry := system.NewRegistry(mux)
			return aboutMachine(mux, func(is chosen) *system.RegistryResult {
				res := registry.Result()
				res.Keep(is)
				return res
			}, registryTotals)
		},
	}
}

func registryTotals(p *page, res *system.RegistryResult) {
	sum := res.Sum()
	p.title("registry")
	p.line("operations", "%d, %d of them failed", sum.Operations(), sum.Failed)
	p.line("took", "%s, the longest %s", show.MS(sum.MS), show.MS(sum.LongestMS))
}
