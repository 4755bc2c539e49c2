package parquet

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// ManifestSchema is the version of the form of manifests.
const ManifestSchema = 1

// A Manifest says what of a trace is where. It is the JSON of a file in the folder
// _traces of a lake.
type Manifest struct {
	Schema int    `json:"schema"`
	Trace  string `json:"trace"`
	ID     string `json:"id"`
	Host   string `json:"host"`
	// Source is what the program that exported says of the trace, such as the size
	// of the file.
	Source map[string]string `json:"source,omitempty"`

	Events       int64 `json:"events"`       // rows of all types of events
	PayloadBytes int64 `json:"payloadBytes"` // of them
	Undecodable  int64 `json:"undecodable"`  // events whose payloads do not fit: what comes after the fault is null
	Undescribed  int64 `json:"undescribed"`  // events of which nothing is known: they have a payload
	Losses

	// Complete says that the trace was read to its end, without trouble.
	Complete bool    `json:"complete"`
	Bytes    int64   `json:"bytes"` // of all files
	Files    []*File `json:"files"`
}

// Losses are what a trace lacks.
type Losses struct {
	Lost        int64 `json:"lost"`        // events that the session could not record
	LostBuffers int64 `json:"lostBuffers"` // buffers of events that it could not record
	Damaged     int64 `json:"damaged"`     // records that could not be read
	// Problems are the first troubles with the trace, as text.
	Problems []string `json:"problems,omitempty"`
}

// A File is one file of a lake.
type File struct {
	Path     string `json:"path"` // from the lake, with slashes
	Table    string `json:"table,omitempty"`
	Provider string `json:"provider,omitempty"`
	Event    string `json:"event,omitempty"`
	IDs      []int  `json:"ids,omitempty"`
	// Versions counts the rows by the version of the event.
	Versions map[int]int64 `json:"versions,omitempty"`
	Rows     int64         `json:"rows"`
	Bytes    int64         `json:"bytes"`
	First    *time.Time    `json:"first,omitempty"` // times of the rows
	Last     *time.Time    `json:"last,omitempty"`

	first, last int64
	seen        bool
}

// see takes notice of the time of a row.
func (f *File) see(ns int64) {
	if !f.seen {
		f.first, f.last, f.seen = ns, ns, true
		return
	}
	f.first, f.last = min(f.first, ns), max(f.last, ns)
}

func (f *File) setVersions(counts *[256]int64, ids map[uint16]bool) {
	f.Versions = make(map[int]int64)
	for v, n := range counts {
		if n > 0 {
			f.Versions[v] = n
		}
	}
	for id := range ids {
		f.IDs = append(f.IDs, int(id))
	}
	slices.Sort(f.IDs)
}

// finish makes what was seen part of the JSON.
func (f *File) finish() {
	if f.seen {
		first, last := time.Unix(0, f.first).UTC(), time.Unix(0, f.last).UTC()
		f.First, f.Last = &first, &last
	}
}

// manifestFolder is the folder of manifests. Engines pass over names that begin so.
const manifestFolder = "_traces"

// ReadManifest reads the manifest of a trace that was exported into the lake dir, by
// the options Trace and ID. If there is none, the error is fs.ErrNotExist.
func ReadManifest(dir, trace, id string) (*Manifest, error) {
	b, err := os.ReadFile(manifestPath(dir, baseName(trace, id)))
	if err != nil {
		return nil, err
	}
	m := new(Manifest)
	if err := json.Unmarshal(b, m); err != nil {
		return nil, err
	}
	return m, nil
}

func manifestPath(dir, base string) string {
	return filepath.Join(dir, manifestFolder, base+".json")
}

// write writes m, at once or not at all.
func (m *Manifest) write(path string) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".tmp", append(b, '\n'), 0o666); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}
