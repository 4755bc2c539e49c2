package frames

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/fetch"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Where names of code are from, beside files.
const (
	fromEvents   = "events of the runtime"
	FromRecorder = "the recorder"
	FromNothing  = "none"
)

// Origins says where the names of native code are from, and how to name the rest.
type Origins struct {
	named  map[originKey]string
	wanted map[string]string // by the file that has the code
	keys   map[string][]fetch.Key
}

// An originKey is the key that tells the frames of native code apart.
type originKey struct{ name, tier string }

// NewOrigins returns origins of no name yet.
func NewOrigins() *Origins {
	return &Origins{make(map[originKey]string), make(map[string]string), make(map[string][]fetch.Key)}
}

// note notes where the name of a place is from.
func (o *Origins) note(n *symbols.Native, from string) {
	if n.Function == "" || n.Unnamed {
		o.wanted[n.Module] = wantedFor(n)
		for _, k := range fetch.Keys(n) {
			if !slices.Contains(o.keys[n.Module], k) {
				o.keys[n.Module] = append(o.keys[n.Module], k)
			}
		}
	}
	if n.Function == "" {
		return
	}
	if m := n.Method(); m.Named() {
		o.named[originKey{m.Full(), n.Tier}] = from
	} else {
		o.named[originKey{n.Full(), ""}] = from
	}
}

// wantedFor returns the file that would name the code of a file.
func wantedFor(n *symbols.Native) string {
	const given = ", in --symbols"
	name := strings.ToLower(n.File())
	switch {
	case n.Unnamed:
		return "the debug file with build id " + n.BuildID + given
	case strings.HasPrefix(n.Module, "/memfd:doublemapper"), n.Module == "":
		return "perf-PID.map of the process" + given
	case n.Module == "[vdso]":
		return "vdso64.so of the kernel that ran" + given
	case n.Module == "vmlinux":
		return "kallsyms of the same boot" + given
	case strings.HasPrefix(n.Module, "["):
		return "nothing: it is no code"
	}
	var all []string
	if n.BuildID != "" {
		all = append(all, "the ELF file or debug file with build id "+n.BuildID)
	}
	switch ext := strings.HasSuffix(name, ".dll") || strings.HasSuffix(name, ".exe"); {
	case n.TimeDateStamp != 0 && n.PDB.GUID == (etw.GUID{}):
		all = append(all, fmt.Sprintf("the file with time stamp %#x, which tells its file of symbols", n.TimeDateStamp))
	case n.TimeDateStamp != 0 && ext:
		all = append(all, fmt.Sprintf("the file with time stamp %#x, if it is of .NET", n.TimeDateStamp))
	}
	if n.PDB.GUID != (etw.GUID{}) && !n.InFile {
		all = append(all, fmt.Sprintf("%s %s age %d", n.PDB.Path, n.PDB.GUID, n.PDB.Age))
	}
	if len(all) == 0 {
		return "unknown: the trace does not say which build it is"
	}
	return strings.Join(all, ", or ") + given
}

// Keys returns the files of symbols that would name the code of a file.
func (o *Origins) Keys(file string) []fetch.Key { return o.keys[file] }

// A Namesake is frames that have their names from one source, or have none for one
// reason.
type Namesake struct {
	From, File, Wanted string
}

// Of returns where the name of a frame is from, or how to name it.
func (o *Origins) Of(f *stacks.Frame, rundown bool) Namesake {
	switch {
	case f.Nameless:
		return Namesake{cmp.Or(o.named[originKey{f.Full, f.Tier}], FromNothing), f.Module, o.wanted[f.Module]}
	case f.IsNamed():
		if from := o.named[originKey{f.Full, f.Tier}]; from != "" {
			return Namesake{From: from}
		}
		return Namesake{From: fromEvents}
	case f.Address>>63 != 0:
		return Namesake{From: FromNothing, Wanted: "kallsyms of the same boot, in --symbols"}
	case rundown:
		return Namesake{From: FromNothing, Wanted: "unknown: the trace does not tell the code at the address"}
	}
	return Namesake{From: FromNothing, Wanted: "a rundown, if it is code of .NET: the trace has none"}
}
