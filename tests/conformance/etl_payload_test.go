package conformance

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/clr/stress"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestETLPayloads holds the fields that the baselines print against those that
// the generated types of the .NET runtime decode, and for other events against
// those that the schema in the trace does.
func TestETLPayloads(t *testing.T) {
	decoder := etw.NewDecoder(clr.Provider, rundown.Provider, private.Provider, stress.Provider, kernel.Provider).
		Typed(slices.Concat(clr.Types(), rundown.Types(), private.Types(), stress.Types(), kernel.Types())...)
	for _, path := range corpus.Glob(t, "etl", "*.baseline.txt") {
		trace := strings.TrimSuffix(path, ".baseline.txt") + ".etl"
		t.Run(filepath.Base(trace), func(t *testing.T) {
			b, all, names := readBoth(t, path, trace)
			var dynamic etw.Dynamic
			next, typed, self, equal, known := 0, 0, 0, 0, 0
			for _, line := range b.events {
				i := slices.IndexFunc(all[next:], func(r tracedRecord) bool {
					return r.header == line.at && r.kind == names[line.name]
				})
				if i < 0 {
					continue // an error of TestETLBaselines
				}
				next += i + 1
				r := all[next-1].record
				var e etw.Described
				basis := decoder.Event(r).Basis
				event, err := decoder.Decode(r)
				switch {
				case basis == etw.BasisGenerated && err != nil:
					t.Errorf("line %d: %s: %v", line.line, line.name, err)
					continue
				case basis == etw.BasisGenerated:
					e = event
					typed++
				case r.Schema != nil:
					if _, err := dynamic.Decode(r.Schema, r.Payload, r.PointerSize); err != nil {
						t.Errorf("line %d: %s: %v", line.line, line.name, err)
						continue
					}
					e = &dynamic
					self++
				default:
					continue // classic events, which nothing in the trace describes
				}
				for _, f := range printedFields(line.rest) {
					group, _, _ := strings.Cut(line.name, "/")
					if name := cmp.Or(renamed[line.name+" "+f.name], renamed[group+" "+f.name]); name != "" {
						f.name = name
					}
					why := cmp.Or(knownDifferences[line.name+" "+f.name], knownDifferences[group+" "+f.name])
					switch got, ok := sameField(e, f, r.PointerSize); {
					case ok:
						equal++
					case why != "":
						known++
					default:
						t.Errorf("line %d: %s: %s is %s, want %q", line.line, line.name, f.name, got, f.value)
					}
				}
			}
			t.Logf("%d typed and %d self-described events: %d fields are equal, %d differ as listed", typed, self, equal, known)
		})
	}
}

// A printedField is "Name=value" of an EVENT line.
type printedField struct{ name, value string }

// printedFields cuts the fields of a line apart. A value may contain "; " as well, but then
// the text after it has no "=" before the next one.
func printedFields(s string) (fields []printedField) {
	for _, part := range strings.Split(strings.TrimSuffix(s, " "), "; ") {
		part = strings.TrimSuffix(part, ";")
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			if n := len(fields); n > 0 && part != "" {
				fields[n-1].value += "; " + part
			}
			continue
		}
		fields = append(fields, printedField{name, value})
	}
	return fields
}

// renamed are the fields that TraceEvent gives another name, in one event or in
// all of a provider.
var renamed = map[string]string{
	"Windows Kernel ProcessID":                                 "ProcessId",
	"Windows Kernel ParentID":                                  "ParentId",
	"Windows Kernel SessionID":                                 "SessionId",
	"Windows Kernel PageDirectoryBase":                         "DirectoryTableBase",
	"Windows Kernel FileKey":                                   "FileObject",
	"Windows Kernel BuildTime":                                 "TimeDateStamp",
	"Windows Kernel SessionName":                               "SessionNameString",
	"Windows Kernel/EventTrace LogFileName":                    "LogFileNameString",
	"Windows Kernel/Process/PerfCtrRundown MemoryCount":        "PageFaultCount",
	"Windows Kernel/SysConfig/UnknownVolume Value":             "NtPath",
	"Windows Kernel UtcOffsetMinutes":                          "TimeZoneBias",
	"KernelTraceControl BuildTime":                             "TimeDateStamp",
	"KernelTraceControl PDBFileName":                           "PdbFileName",
	"Microsoft-Windows-Kernel-File/Create IrpPtr":              "Irp",
	"Microsoft-Windows-DotNETRuntime/GC/MarkWithType Promoted": "Bytes",
}

// knownDifferences are the fields that TraceEvent computes or shows in its own
// way, with the reason, in one event or in all of a provider.
var knownDifferences = map[string]string{
	"Microsoft-Windows-DotNETRuntime/GC/HeapStats TotalHeapSize":                  "a sum of fields",
	"Microsoft-Windows-DotNETRuntime/GC/HeapStats TotalPromoted":                  "a sum of fields",
	"Microsoft-Windows-DotNETRuntime/GC/HeapStats Depth":                          "from an earlier GC/Start",
	"Microsoft-Windows-DotNETRuntime/GC/FinalizeObject TypeName":                  "from earlier Type/BulkType events",
	"Microsoft-Windows-DotNETRuntime/Type/BulkType TypeID_0":                      "of the first element",
	"Microsoft-Windows-DotNETRuntime/Type/BulkType TypeName_0":                    "of the first element, cut from its full name",
	"Microsoft-Windows-DotNETRuntime/Loader/ModuleLoad ModuleILFileName":          "cut from ModuleILPath",
	"Microsoft-Windows-DotNETRuntime/Loader/ModuleUnload ModuleILFileName":        "cut from ModuleILPath",
	"Microsoft-Windows-DotNETRuntimeRundown/Loader/ModuleDCStop ModuleILFileName": "cut from ModuleILPath",
	"Microsoft-Windows-DotNETRuntime/Method/LoadVerbose OptimizationTier":         "not in this version; shown as Unknown instead of 0",
	"Microsoft-Windows-DotNETRuntime/Method/UnloadVerbose OptimizationTier":       "not in this version; shown as Unknown instead of 0",

	"Windows Kernel DiskServiceTimeMSec":               "from HighResResponseTime and other operations of the disk",
	"Windows Kernel ElapsedTimeMSec":                   "HighResResponseTime in milliseconds; of a hard fault, the time since InitialTime",
	"Windows Kernel FileName":                          "with the drive's letter, by the volume mappings in the trace; where there is a key, by file events",
	"Windows Kernel IrpFlags":                          "names of its own",
	"Windows Kernel ParentProcessID":                   "of the header",
	"Windows Kernel ParentThreadID":                    "of the header",
	"Windows Kernel Priority":                          "computed",
	"Windows Kernel ProcessorNumber":                   "of the header",
	"Windows Kernel/Thread/Start StartAddr":            "the place of Affinity, where an older version had it",
	"Windows Kernel/Thread/Stop StartAddr":             "the place of Affinity, where an older version had it",
	"Windows Kernel/SystemConfig/Services ProcessName": "the name of the process, in place of the field",
	"Windows Kernel/UdpIp/Recv context":                "PID and size read as one number, as in version 0",
	"Windows Kernel/UdpIp/Send context":                "PID and size read as one number, as in version 0",

	"PerfView/ManifestData PayloadLength":                                         "the length of the payload",
	"System.Threading.Tasks.TplEventSource/ManifestData PayloadLength":            "the length of the payload",
	"System.Diagnostics.Eventing.FrameworkEventSource/ManifestData PayloadLength": "the length of the payload",

	"Microsoft-Windows-Kernel-File/Create CreateDisposition": "the top byte of CreateOptions, by name",
	"Microsoft-Windows-Kernel-File/Create CreateOptions":     "without its top byte, and with names of another set of flags",
	"Microsoft-Windows-Kernel-File/Create ShareAccess":       "with names that the trace does not have",
	"Microsoft-Windows-Kernel-File/Create FileName":          "with the drive's letter, by the volume mappings in the trace",

	"Microsoft-Windows-DotNETRuntimePrivate/GC/PerHeapHistory ClrInstanceID":     "of a native structure that no manifest describes",
	"Microsoft-Windows-DotNETRuntimePrivate/GC/PerHeapHistory ExpandMechanisms":  "of a native structure that no manifest describes",
	"Microsoft-Windows-DotNETRuntimePrivate/GC/PerHeapHistory CompactMechanisms": "of a native structure that no manifest describes",
	"Microsoft-Windows-DotNETRuntime/GC/PerHeapHistory ExpandMechanisms":         "names of its own",
	"Microsoft-Windows-DotNETRuntime/GC/PerHeapHistory CompactMechanisms":        "names of its own",
	"Microsoft-Windows-DotNETRuntime/GC/FitBucketInfo BucketKind":                "names of its own",
	"Microsoft-Windows-DotNETRuntimePrivate/NgenBinder/NgenBind ReasonCode":      "names of its own",
	"PerfView/KernelEnableParameters keywords":                                   "names of its own, where the manifest has one for the sum",
	"PerfView/KernelEnableParameters stacks":                                     "names of its own, where the manifest has one for the sum",
}

// sameField reports whether e has the field f with the value that was printed. If not, it
// returns e's value.
func sameField(e etw.Described, f printedField, ptr etw.PtrSize) (string, bool) {
	d := e.EventDesc()
	i := slices.IndexFunc(d.Fields, func(d etw.FieldDesc) bool { return d.Name == f.name })
	if i < 0 {
		// Fields that a version lacks are printed as 0 or empty.
		switch f.value {
		case "", "0", "0x00000000", "False", "00000000-0000-0000-0...":
			return "absent", true
		}
		return "absent", false
	}
	forms := printedForms(&d.Fields[i], e.FieldValue(i), ptr)
	return fmt.Sprintf("%q", forms), slices.Contains(forms, f.value)
}

// printedForms returns how TraceEvent may print a value: which of them depends on
// the type that it has for the field.
func printedForms(d *etw.FieldDesc, v etw.Value, ptr etw.PtrSize) (forms []string) {
	add := func(s string) { forms = append(forms, s) }
	switch v.Kind() {
	case etw.ValueInt, etw.ValueUint, etw.ValuePointer:
		u := v.Uint()
		if name := mapName(d.Map, uint32(u)); name != "" {
			add(cut(name))
		}
		width := map[etw.InType]int{
			etw.InInt8: 8, etw.InUInt8: 8, etw.InInt16: 16, etw.InUInt16: 16, etw.InInt32: 32, etw.InUInt32: 32, etw.InHexInt32: 32,
		}[d.Type]
		if width == 0 {
			width = 64
			if d.Type == etw.InPointer && ptr == etw.Ptr32 {
				width = 32
			}
		}
		signed := int64(u<<(64-width)) >> (64 - width)
		unsigned := u << (64 - width) >> (64 - width)
		add(cut(grouped(strconv.FormatInt(signed, 10))))
		add(grouped(strconv.FormatUint(unsigned, 10)))
		add(strconv.FormatInt(signed, 10)) // an enumeration without a name for it
		add(fmt.Sprintf("0x%08x", unsigned))
		if d.Out != etw.OutDefault { // a port, an address
			add(grouped(string(etw.AppendFieldText(nil, d, v))))
			add(string(etw.AppendFieldText(nil, d, v)))
		}
		if d.Name == "TimeDateStamp" {
			add(cut(time.Unix(int64(unsigned), 0).UTC().Format("06/01/02 15:04:05.000000")))
		}
	case etw.ValueBool:
		add(map[bool]string{true: "True", false: "False"}[v.Bool()])
	case etw.ValueFloat, etw.ValueFloat32:
		add(grouped(strconv.FormatFloat(v.Float(), 'f', 3, 64)))
	case etw.ValueGUID:
		add(cut(v.GUID().String()))
	case etw.ValueFileTime:
		add(cut(v.FileTime().Time().Format("06/01/02 15:04:05.000000")))
	case etw.ValueSystemTime:
		// TraceEvent takes the seconds for the milliseconds.
		at := v.SystemTime()
		wrong := time.Date(int(at.Year), time.Month(at.Month), int(at.Day), int(at.Hour), int(at.Minute), int(at.Second), int(at.Second)*1e6, time.UTC)
		add(cut(wrong.Format("06/01/02 15:04:05.000000")))
	case etw.ValueUTF16:
		add(cut(v.Text()))
	case etw.ValueANSI:
		if d.Type == etw.InChar8 {
			add(strconv.Itoa(int(v.Bytes()[0])))
		}
		add(cut(etw.ANSI(v.Bytes()).String()))
	default:
		add(cut(string(etw.AppendFieldText(nil, d, v))))
	}
	return forms
}

// cut is how the baselines shorten text.
func cut(s string) string {
	s = strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
	if r := []rune(s); len(r) > 20 {
		return string(r[:20]) + "..."
	}
	return s
}

// mapName returns the names of v as .NET prints an enumeration.
func mapName(m *etw.MapDesc, v uint32) string {
	if m == nil {
		return ""
	}
	if name, ok := m.Lookup(v); ok {
		return name
	}
	if !m.Flags {
		return ""
	}
	if v == 0 {
		return "None"
	}
	var names []string
	for _, e := range m.Entries {
		if v&e.Value == e.Value && e.Value != 0 {
			names = append(names, e.Name)
			v &^= e.Value
		}
	}
	if v != 0 {
		return ""
	}
	return strings.Join(names, ", ")
}
