package pick

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/windows/disk"
	"github.com/etwgen/etwgen/generated/windows/file"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Operations knows the files that operations of Windows are about, and how long these
// took. Their events have keys and ticks.
type Operations struct {
	decoder *etw.Decoder
	rules   []operationRule     // by the index of the event
	keys    map[fileID][]naming // in the order of time
	objects map[fileID]string   // files that are open now
	letters etw.Mux
	machine *system.Machine // has the letters of drives

	Before *Operations // what is told ahead of the events that are shown, or nil
}

// A fileID is the number of a file in one of several traces.
type fileID struct {
	trace string
	id    uint64
}

// A naming says that a key stands for a file at a time, or stands for it no more then.
type naming struct {
	at   int64
	path string
	ends bool
}

// An operationRule says where an event has its file and its time: fields, or -1.
type operationRule struct {
	known       bool
	kind        operationKind
	key, object int
	path        int // that of a file, in an event that names it
	ticks       int // how long it took
	begun       int // when it began, as a time of the clock
}

// An operationKind says which part an event has.
type operationKind uint8

const (
	ofNoFile operationKind = iota
	operates
	names   // a key
	unnames // the same
	opens   // an object
	closes  // the same
)

// Those of which events are followed.
var (
	fileClass   = etw.Versions(new(kernel.AnyFileIoName))[0].Class
	diskClass   = etw.Versions(new(kernel.AnyDiskIoRead))[0].Class
	faultClass  = etw.Versions(new(kernel.AnyPageFaultHardFault))[0].Class
	configClass = etw.Versions(new(kernel.AnySysConfigVolumeMapping))[0].Class
	fileEvents  = file.Provider.Desc.GUID
	diskEvents  = disk.Provider.Desc.GUID
)

// NewOperations returns operations of which nothing is known yet.
func NewOperations() *Operations {
	o := &Operations{decoder: builtin.NewDecoder(), keys: make(map[fileID][]naming), objects: make(map[fileID]string)}
	o.machine = system.Of(&o.letters)
	return o
}

// tellsFiles reports whether events tell the names of files.
func tellsFiles(k etw.Key) bool {
	switch {
	case k.Kind == etw.KindClassic && k.Provider == fileClass:
		return k.ID == opName || k.ID == opFileCreate || k.ID == opFileDelete || k.ID == opFileRundown
	case k.Provider == fileEvents:
		return k.ID == idNameCreate || k.ID == idNameDelete
	}
	return k.Kind == etw.KindClassic && k.Provider == configClass
}

// Opcodes of the kernel's class, and ids of its provider.
const (
	opName, opFileCreate, opFileDelete, opFileRundown, opClose = 0, 32, 35, 36, 66
	idNameCreate, idNameDelete, idClose                        = 10, 11, 14
)

// TellsOfFiles reports whether Operations may learn something from records of a provider.
func TellsOfFiles(provider etw.GUID) bool { return isOperation(provider) || provider == configClass }

// Learn takes the facts of a record about files.
func (o *Operations) Learn(r *etw.Record) {
	if !isOperation(r.Provider) {
		if r.Provider == configClass {
			_ = o.letters.Dispatch(r) // what does not decode tells of no drive
		}
		return
	}
	rule := o.rule(r)
	if rule.kind <= operates {
		return
	}
	values, _ := o.decoder.Decode(r)
	if values == nil {
		return
	}
	object := fileID{r.File, number(values, rule.object)}
	switch rule.kind {
	case opens:
		o.objects[object] = values.FieldValue(rule.path).String()
	case closes:
		delete(o.objects, object)
	default:
		key := fileID{r.File, number(values, rule.key)}
		n := naming{r.Timestamp, values.FieldValue(rule.path).String(), rule.kind == unnames}
		if list := o.keys[key]; len(list) == 0 || list[len(list)-1].ends != n.ends || list[len(list)-1].path != n.path {
			o.keys[key] = append(list, n)
		}
	}
}

// IsOperation reports whether events are about files, or operations of disks.
func IsOperation(d *etw.EventDesc) bool {
	return isOperation(d.Class) || d.Provider != nil && isOperation(d.Provider.GUID)
}

func isOperation(provider etw.GUID) bool {
	return provider == fileClass || provider == diskClass || provider == faultClass || provider == fileEvents || provider == diskEvents
}

// Of sets of a shot which file it is about, and how long that took.
func (o *Operations) Of(s *Shot) {
	s.Path, s.Took = "", -1
	if s.Values == nil || !isOperation(s.Provider) {
		return
	}
	rule := o.rule(s.Record)
	if rule.kind != operates && rule.kind != closes {
		return
	}
	if n, ok := whole(s.Values, rule.ticks); ok {
		s.Took = took(s.Record, int64(n))
	} else if n, ok := whole(s.Values, rule.begun); ok {
		s.Took = took(s.Record, s.Timestamp-int64(n))
	}
	path := o.byKey(fileID{s.File, number(s.Values, rule.key)}, s.Timestamp)
	if path == "" {
		path = o.objects[fileID{s.File, number(s.Values, rule.object)}]
	}
	s.Path = o.written(path)
}

// isOfFile reports whether the file of an operation, or how long that took, meets a condition: both
// are called as JSON does.
func (s *Selector) isOfFile(w *filter.Where, h *Shot) bool {
	if s.OfFile == nil || !asksForFile(w) || !isOperation(h.Provider) {
		return false
	}
	s.OfFile(h)
	if strings.EqualFold(w.Path()[0], "path") {
		return h.Path != "" && w.MatchText(h.Path)
	}
	return h.Took >= 0 && w.MatchText(strconv.FormatFloat(float64(h.Took)/1e6, 'f', -1, 64))
}

// asksForFile reports whether a condition may be on the file of an operation, or its time.
func asksForFile(w *filter.Where) bool {
	p := w.Path()
	return len(p) == 1 && (strings.EqualFold(p[0], "path") || strings.EqualFold(p[0], "elapsedMs"))
}

// check reports that no event has the field of a condition.
func (s *Selector) check(w *filter.Where, descs []*etw.EventDesc) error {
	if s.OfFile != nil && asksForFile(w) && slices.ContainsFunc(descs, IsOperation) {
		return nil
	}
	return w.Check(descs)
}

// byKey returns the path that a key stands for at a time: that which was told last or, where
// the key stood for nothing since, that which is told next.
func (o *Operations) byKey(key fileID, at int64) string {
	for x := o; x != nil; x = x.Before {
		list := x.keys[key]
		next, _ := slices.BinarySearchFunc(list, at, func(n naming, at int64) int {
			if n.at <= at {
				return -1
			}
			return 1
		})
		if next > 0 && !list[next-1].ends {
			return list[next-1].path
		}
		if next < len(list) {
			return list[next].path
		}
	}
	return ""
}

// written returns a path with the letter of its drive, if that is known.
func (o *Operations) written(path string) string {
	for x := o; x != nil && path != ""; x = x.Before {
		path = x.machine.Path(path)
	}
	return path
}

// rule returns that of events like r.
func (o *Operations) rule(r *etw.Record) *operationRule {
	e := o.decoder.Event(r)
	for e.Index >= len(o.rules) {
		o.rules = append(o.rules, operationRule{})
	}
	if rule := &o.rules[e.Index]; !rule.known {
		*rule = findOperationRule(r, e.Desc)
	}
	return &o.rules[e.Index]
}

func findOperationRule(r *etw.Record, desc *etw.EventDesc) operationRule {
	rule := operationRule{known: true}
	if desc == nil {
		return rule
	}
	at := func(name string) int {
		return slices.IndexFunc(desc.Fields, func(f etw.FieldDesc) bool { return strings.EqualFold(f.Name, name) })
	}
	rule.key, rule.object, rule.path = at("FileKey"), at("FileObject"), max(at("FileName"), at("OpenPath"))
	rule.ticks, rule.begun = at("HighResResponseTime"), at("InitialTime")
	if rule.key < 0 {
		rule.key = rule.object
	}
	switch key := r.Key(); {
	case tellsFiles(key) && (key.ID == opFileDelete || key.ID == idNameDelete):
		rule.kind = unnames
	case tellsFiles(key):
		rule.kind = names
	case r.Provider == fileClass && key.ID == opClose || r.Provider == fileEvents && key.ID == idClose:
		rule.kind = closes
	case rule.path >= 0 && at("CreateOptions") >= 0:
		rule.kind = opens
	case rule.key >= 0 || rule.ticks >= 0:
		rule.kind = operates
	}
	return rule
}

// whole returns a field that is a number.
func whole(values etw.Described, field int) (uint64, bool) {
	if field < 0 {
		return 0, false
	}
	switch v := values.FieldValue(field); v.Kind() {
	case etw.ValueUint, etw.ValuePointer:
		return v.Uint(), true
	case etw.ValueInt:
		return uint64(v.Int()), true
	}
	return 0, false
}

// number returns a field that is a number, or 0.
func number(values etw.Described, field int) uint64 {
	n, _ := whole(values, field)
	return n
}

// took returns ticks of the clock of a record as a time, or -1 if they are invalid.
func took(r *etw.Record, ticks int64) time.Duration {
	if r.Clock == nil || ticks < 0 || ticks > math.MaxInt64-r.Clock.Origin {
		return -1
	}
	return r.Clock.Elapsed(r.Clock.Origin + ticks)
}
