package system

import "fmt"

// Warnings says which numbers mislead, and why.
func (r *Result) Warnings() []string {
	list := told(nil, "of %s nothing but the number is known", r.Unresolved.Processes, "process", "processes")
	list = told(list, "of %s the process is not known", r.Unresolved.Threads, "thread", "threads")
	list = told(list, "the process of %s is not known: they are in no row", r.Unresolved.Samples, "sample", "samples")
	return told(list, "context switches are missing in %s: ranMs is a lower bound", r.Gaps, "place", "places")
}

// Warnings names the facts about images that the trace lacks.
func (r *ImagesResult) Warnings() []string {
	return told(nil, "the trace does not tell the drives of %s", r.Unresolved.Paths, "path", "paths")
}

// Warnings says of how many operations the file or the process is not known.
func (r *FilesResult) Warnings() []string { return r.untold((*FileFacts).Operations) }

// Warnings says of how many requests the file or the process is not known.
func (r DisksResult) Warnings() []string {
	return r.untold(func(f *FileFacts) (n uint64) {
		for i := range f.Disks {
			n += f.Disks[i].Reads + f.Disks[i].Writes
		}
		return n
	})
}

func (r *FilesResult) untold(operations func(*FileFacts) uint64) []string {
	var unnamed, unowned uint64
	for i := range r.Files {
		f := &r.Files[i]
		if f.Path == "" {
			unnamed += operations(f)
		}
		if f.PID < 0 {
			unowned += operations(f)
		}
	}
	list := told(nil, "the trace does not tell the files of %s", unnamed, "operation", "operations")
	return told(list, "the trace does not tell the processes of %s", unowned, "operation", "operations")
}

// told adds a text with a number of things, unless there are no such.
func told[N int | uint64](list []string, text string, n N, one, several string) []string {
	if n == 0 {
		return list
	}
	if n != 1 {
		one = several
	}
	return append(list, fmt.Sprintf(text, fmt.Sprint(n, " ", one)))
}
