package trace

import (
	"slices"
	"time"
)

// PartOf returns which part of another trace files are together, or nil, and when their session began:
// see [Trace.Part]. It reads their begins alone.
func PartOf(paths []string, opts ...Option) (p *Part, start time.Time, differ bool) {
	var files []*File
	for _, path := range paths {
		switch formatOfFile(path).(type) {
		case nettraceFormat, etlFormat, gzipFormat:
			more, err := OpenFiles(path, append(opts, WithoutAttribution(), WithoutSchemas())...)
			if err != nil { // whoever reads it says so
				return nil, time.Time{}, false
			}
			defer more[0].Close()
			files = append(files, more...)
		default:
			files = append(files, nil)
		}
	}
	if !slices.ContainsFunc(files, func(f *File) bool { return f != nil && f.part != nil }) {
		return nil, time.Time{}, false
	}
	if slices.Contains(files, nil) {
		return nil, time.Time{}, true
	}
	t := Merge(files...)
	p, differ = t.Part()
	return p, t.Start(), differ
}

// Part returns which part of another trace the file is, or nil. It does not know that of a stream.
func (f *File) Part() *Part { return f.part }

// Part returns which part of another trace all files are together, or nil. Those that differ in more
// than the time, or do not adjoin, have none, and differ is true.
func (t *Trace) Part() (all *Part, differ bool) {
	var list []*Part
	for _, f := range t.files {
		list, differ = append(list, f.part.since(between(t.start, f.Clock().Start))), differ || f.parts
	}
	all, apart := together(list)
	return all, differ || apart
}
