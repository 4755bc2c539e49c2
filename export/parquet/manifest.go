package parquet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
)

// ManifestSchema is the version of the form of manifests.
const ManifestSchema = 2

// A Manifest tells the place of each part of a trace. It is the JSON of a file in the folder
// _traces of a lake.
type Manifest struct {
	Schema int `json:"schema"`
	// TraceID is that of the recording, which the column trace_id has, and Run that of the
	// export. Of several the greatest holds.
	TraceID  string   `json:"traceId"`
	Run      string   `json:"run"`
	Trace    string   `json:"trace"`
	ID       string   `json:"id"` // of the content
	Host     string   `json:"host,omitempty"`
	Resource Resource `json:"resource,omitempty"`
	Date     string   `json:"date"` // on which it was begun, in UTC
	// Source is the exporting program's description of the trace, such as the size of the
	// file.
	Source map[string]string `json:"source,omitempty"`

	Events       int64 `json:"events"`       // rows of all types of events
	PayloadBytes int64 `json:"payloadBytes"` // of them
	Undecodable  int64 `json:"undecodable"`  // events whose payloads do not fit: what comes after the fault is null
	Undescribed  int64 `json:"undescribed"`  // events of which nothing is known: they have a payload
	Losses

	// Complete says that the trace was read to its end, without trouble.
	Complete bool    `json:"complete"`
	Bytes    int64   `json:"bytes"` // of all files
	Files    []*File `json:"files"` // as exported: [Lake.Files] are those that its rows are in now
}

// Losses are the gaps of a trace.
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
	stale       []string // recordings whose rows in it do not count: of a compaction
	folder      string   // of the type of events
	number      int      // of the files that it has there
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

// finish makes the counts seen part of the JSON.
func (f *File) finish() {
	if f.seen {
		first, last := time.Unix(0, f.first).UTC(), time.Unix(0, f.last).UTC()
		f.First, f.Last = &first, &last
	}
}

// The folders of manifests, and of unfinished files. Engines pass over names that begin so.
const (
	manifestFolder = "_traces"
	runFolder      = "_runs"
)

// ReadManifest reads the manifest of a recording in the lake dir, as [TraceID] calls it. If there
// is none, the error is fs.ErrNotExist.
func ReadManifest(dir, traceID string) (*Manifest, error) {
	if len(traceID) != 32 {
		return nil, fmt.Errorf("%q is no id of a recording: that has 32 digits", traceID)
	}
	names, err := runsOf(dir, traceID)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(manifestsOf(dir, traceID), traceID+"-*.json"), Err: fs.ErrNotExist}
	}
	return readManifest(filepath.Join(manifestsOf(dir, traceID), names[len(names)-1]))
}

// manifestsOf returns the folder of the manifests of a recording. One for all would have to be
// read for each export.
func manifestsOf(dir, traceID string) string {
	return filepath.Join(dir, manifestFolder, traceID[:2])
}

// runsOf returns the names of the manifests of a recording, that which holds last.
func runsOf(dir, traceID string) ([]string, error) {
	list, err := os.ReadDir(manifestsOf(dir, traceID))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range list { // in order of their names
		if id, _, ok := parseManifestName(e.Name()); ok && id == traceID {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// parseManifestName takes the name of the file of a manifest apart.
func parseManifestName(name string) (traceID, run string, ok bool) {
	name, ok = strings.CutSuffix(name, ".json")
	traceID, run, cut := strings.Cut(name, "-")
	return traceID, run, ok && cut && isTraceID(traceID) && len(run) == runDigits
}

// isTraceID reports whether a text is an id of a recording, as [TraceID] makes it.
func isTraceID(text string) bool {
	return len(text) == 32 && strings.Trim(text, "0123456789abcdef") == ""
}

// runOf returns the run that the name of a manifest ends in.
func runOf(name string) string {
	name = strings.TrimSuffix(name, ".json")
	return name[max(0, len(name)-runDigits):]
}

// readManifest reads the manifest in a file.
func readManifest(name string) (*Manifest, error) {
	m := new(Manifest)
	if err := readJSON(name, m, &m.Schema); err != nil {
		return nil, err
	}
	if id, _, ok := parseManifestName(filepath.Base(name)); ok && m.TraceID != id {
		return nil, fmt.Errorf("%s: it says that it is of the recording %q", name, m.TraceID)
	}
	if err := checkFiles(name, m.Files); err != nil {
		return nil, err
	}
	return m, nil
}

// checkFiles refuses a manifest that lists other files than those of events and tables: whoever has read
// it opens, copies and removes them.
func checkFiles(manifest string, files []*File) error {
	for i, f := range files {
		if f == nil || !filepath.IsLocal(filepath.FromSlash(f.Path)) || path.Clean(f.Path) != f.Path || !isDataFolder(f.Path) ||
			!strings.HasSuffix(f.Path, ".parquet") || strings.ContainsFunc(f.Path, unicode.IsControl) {
			return fmt.Errorf("%s: %w, number %d of its list", manifest, errNoFile, i)
		}
	}
	return nil
}

var errNoFile = errors.New("a file that no lake has")

// readJSON reads a manifest of a recording or a compaction, whose form is in schema.
func readJSON(path string, to any, schema *int) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if *schema != ManifestSchema {
		return fmt.Errorf("%s: a manifest of form %d, of which this program knows %d alone: export the trace again into another lake", path, *schema, ManifestSchema)
	}
	return nil
}

// fileName returns the name of the file of a manifest.
func (m *Manifest) fileName() string { return m.TraceID + "-" + m.Run + ".json" }

// ContentID returns the identity of content: 128 bits of a hash, in hexadecimal digits.
func ContentID(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// TraceID returns the id of the recording of a host that has this content: 32 hexadecimal
// digits.
func TraceID(host, content string) string {
	h := sha256.Sum256([]byte(host + "\x00" + content))
	return hex.EncodeToString(h[:16])
}
