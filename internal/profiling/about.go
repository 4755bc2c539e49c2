package profiling

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/export/otlp"
)

// number returns the number by which the system tells of a process, one that none has if it is
// not known.
func (p *Process) number() int64 {
	if p.Unseen {
		return 0
	}
	return p.PID
}

// folder returns where Linux tells of a process.
func (p *Process) folder() string { return "/proc/" + strconv.FormatInt(p.number(), 10) }

// ThreadName returns the name of a thread where the system tells it as Linux does, or "".
func (p *Process) ThreadName(thread int64) string {
	b, err := os.ReadFile(filepath.Join(p.folder(), "task", strconv.FormatInt(thread, 10), "comm"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// Request returns the profiles of an interval as OpenTelemetry has them, of a process with
// these attributes.
func (p *Process) Request(x *Interval, resource []otlp.Attribute) *otlp.Profiles {
	names := make(map[int64]string)
	out := &otlp.Profiles{
		Resource: func(int64) []otlp.Attribute { return resource },
		Thread: func(_, thread int64) string {
			name, ok := names[thread]
			if !ok {
				name = p.ThreadName(thread)
				names[thread] = name
			}
			return name
		},
		BuildID: p.buildID,
	}
	if x.spans != nil {
		out.Span = func(process, thread, at int64) (trace, span string) {
			id, _ := x.spans.At(process, thread, at)
			return id.Trace, id.Span
		}
	}
	for _, of := range x.Profiles {
		out.Add(of.Profile, of.Period)
	}
	return out
}

// hashed is how many bytes at the begin and at the end of a file identify it.
const hashed = 4096

// buildID returns the identity of a file with code of the process: a hash of its begin, its
// end and its size, as the conventions have it where no linker wrote an id.
func (p *Process) buildID(path string) (none otlp.Attribute) {
	if !filepath.IsAbs(path) {
		return none
	}
	f, err := os.Open(filepath.Join(p.folder(), "root", path))
	if err != nil {
		return none
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return none
	}
	h, n := sha256.New(), info.Size()
	for _, from := range []int64{0, max(n-hashed, 0)} {
		if _, err := io.Copy(h, io.NewSectionReader(f, from, min(n, hashed))); err != nil {
			return none
		}
	}
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
	return otlp.Attribute{Key: "process.executable.build_id.htlhash", Value: hex.EncodeToString(h.Sum(nil)[:16])}
}
