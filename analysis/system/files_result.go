package system

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/internal/order"
)

// A FilesResult is the use of files, by process.
type FilesResult struct {
	Schema int `json:"schema"`
	// Files has a row for each file and process.
	Files []FileFacts `json:"files"`
	// Busy says how long disks were, for whichever processes.
	Busy []DiskTime `json:"busy,omitempty"`
	// Unanswered are the requests to disks that were not over at the end, the longest first.
	Unanswered []Unanswered `json:"unanswered,omitempty"`
	// ElapsedMS is how long the time is of which they are told.
	ElapsedMS float64 `json:"-"`
	// Partial says that the trace lacks a part of the recording: disks may have been busy then, too.
	Partial bool `json:"-"`

	all FileFacts // what all processes did
}

// FileFacts are the use of a file by a process.
type FileFacts struct {
	// Path has the letter of a drive if the trace tells it. It is empty if the file
	// is not known, or if it was done to no file.
	Path    string `json:"path,omitempty"`
	PID     ID     `json:"pid,omitzero"`
	Process string `json:"process,omitempty"`
	// Opens to Others count requests to the file system, the bytes are those that were asked
	// for.
	Opens        uint64 `json:"opens"`
	Reads        uint64 `json:"reads"`
	BytesRead    uint64 `json:"bytesRead"`
	Writes       uint64 `json:"writes"`
	BytesWritten uint64 `json:"bytesWritten"`
	Others       uint64 `json:"others"`
	// MS adds up how long operations took, of which several may run at a time.
	MS float64 `json:"ms"`
	// Disks are the transfers to and from disks.
	Disks []DiskFacts `json:"disks,omitempty"`

	// Of keys of the registry, which are added up as files are.
	failed    uint64
	longestMS float64
}

// nameFile says whose a row is.
func nameFile(x *FileFacts, path string, pid ID, process string) {
	x.Path, x.PID, x.Process = path, pid, process
}

// DiskFacts are the transfers to and from a disk.
type DiskFacts struct {
	Disk         uint32 `json:"disk"`
	Reads        uint64 `json:"reads"`
	BytesRead    uint64 `json:"bytesRead"`
	Writes       uint64 `json:"writes"`
	BytesWritten uint64 `json:"bytesWritten"`
	Flushes      uint64 `json:"flushes"`
	// MS adds up the times between requests and answers, which may overlap.
	MS float64 `json:"ms"`
	// ServiceMS adds up the parts of these times in which the disk served the request: from
	// when it was asked, or the one that the disk answered before, whichever came later.
	ServiceMS float64 `json:"serviceMs"`
}

// A DiskTime is how long a disk was busy, for whichever processes, and how many waited for it.
type DiskTime struct {
	Disk uint32 `json:"disk"`
	// BusyMS is the time in which it had anything to answer, each moment once.
	BusyMS float64 `json:"busyMs"`
	// QueueDepth is how many requests there were when one began, itself among them, on
	// average, and MaxQueueDepth the most.
	QueueDepth    float64 `json:"queueDepth"`
	MaxQueueDepth int     `json:"maxQueueDepth"`
}

// Result returns the use so far, by path and process. It shares no memory that changes with
// f.
func (f *Files) Result() *FilesResult {
	var rows tally[FileFacts]
	for _, u := range f.order {
		rows.of(f.machine, u.File, u.Thread).add(f, u)
	}
	r := &FilesResult{Schema: Schema, Files: rows.list(nameFile)}
	for disk, q := range f.queues {
		mean, most := q.Depth()
		r.Busy = append(r.Busy, DiskTime{disk, f.machine.ms(float64(q.Total())), mean, most})
	}
	r.all.add(f, &f.any)
	r.Unanswered, r.Partial = f.unanswered(), f.window.Lacking().Any
	w := f.window.Ticks(f.machine.clock)
	from, to := w.Clip(f.machine.first, f.machine.last)
	r.ElapsedMS = f.machine.ms(float64(to - from))
	order.Sort(r.Busy, func(a, b DiskTime) int { return cmp.Compare(a.Disk, b.Disk) })
	return r
}

func (f *FileFacts) add(files *Files, u *FileUse) {
	f.Opens += u.Opens
	f.Reads += u.Reads
	f.BytesRead += u.BytesRead
	f.Writes += u.Writes
	f.BytesWritten += u.BytesWritten
	f.Others += u.Others
	f.MS += files.MS(u)
	for i := range u.OnDisk {
		d := &u.OnDisk[i]
		k := slices.IndexFunc(f.Disks, func(x DiskFacts) bool { return x.Disk == d.Disk })
		if k < 0 {
			k = len(f.Disks)
			f.Disks = append(f.Disks, DiskFacts{Disk: d.Disk})
		}
		f.Disks[k].add(files, d)
	}
}

func (f *DiskFacts) add(files *Files, d *DiskUse) {
	f.Reads += d.Reads
	f.BytesRead += d.BytesRead
	f.Writes += d.Writes
	f.BytesWritten += d.BytesWritten
	f.Flushes += d.Flushes
	f.MS += files.DiskMS(d)
	f.ServiceMS += files.ServedMS(d)
}
