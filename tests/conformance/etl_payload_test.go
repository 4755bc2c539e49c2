package conformance

import (
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
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestETLPayloads holds the fields that the baselines print against those that
// the generated types of the .NET runtime decode, and for other events against
// those that the schema in the trace does.
func TestETLPayloads(t *testing.T) {
	registry := etw.NewRegistry(clr.Provider, rundown.Provider, private.Provider, stress.Provider)
	for _, path := range corpus.Glob(t, "etl", "*.baseline.txt") {
		trace := strings.TrimSuffix(path, ".baseline.txt") + ".etl"
		t.Run(filepath.Base(trace), func(t *testing.T) {
			b := readBaseline(t, path)
			wanted := make(map[baselineHeader]bool)
			for _, e := range b.events {
				wanted[e.at] = true
			}
			all := readTrace(t, trace, wanted)
			names := nameEvents(t, b, all)
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
				event, _, err := registry.Decode(r)
				switch {
				case err != nil:
					t.Errorf("line %d: %s: %v", line.line, line.name, err)
					continue
				case event != nil:
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
					if name, ok := renamed[line.name+" "+f.name]; ok {
						f.name = name
					}
					why := knownDifferences[line.name+" "+f.name]
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

// printedFields cuts the fields of a line apart. A value may contain "; " as well,
// but then what follows has no "=" before the next one.
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

// renamed are the fields that TraceEvent gives another name.
var renamed = map[string]string{
	"Microsoft-Windows-Kernel-File/Create IrpPtr":              "Irp",
	"Microsoft-Windows-DotNETRuntime/GC/MarkWithType Promoted": "Bytes",
}

// knownDifferences are the fields that TraceEvent computes or shows in its own
// way, with the reason.
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

// sameField reports whether e has the field f with the value that was printed. If
// not, it returns what e has.
func sameField(e etw.Described, f printedField, ptr etw.PtrSize) (string, bool) {
	d := e.EventDesc()
	i := slices.IndexFunc(d.Fields, func(d etw.FieldDesc) bool { return d.Name == f.name })
	if i < 0 {
		// What a version lacks is printed as 0 or empty.
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
	case etw.IntValueKind, etw.UintValueKind, etw.PointerValueKind:
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
		add(grouped(strconv.FormatInt(signed, 10)))
		add(grouped(strconv.FormatUint(unsigned, 10)))
		add(strconv.FormatInt(signed, 10)) // an enumeration without a name for it
		add(fmt.Sprintf("0x%08x", unsigned))
	case etw.BoolValueKind:
		add(map[bool]string{true: "True", false: "False"}[v.Bool()])
	case etw.FloatValueKind, etw.Float32ValueKind:
		add(grouped(strconv.FormatFloat(v.Float(), 'f', 3, 64)))
	case etw.GUIDValueKind:
		add(cut(v.GUID().String()))
	case etw.FileTimeValueKind:
		add(cut(v.FileTime().Time().Format("06/01/02 15:04:05.000000")))
	case etw.SystemTimeValueKind:
		// TraceEvent takes the seconds for the milliseconds.
		at := v.SystemTime()
		wrong := time.Date(int(at.Year), time.Month(at.Month), int(at.Day), int(at.Hour), int(at.Minute), int(at.Second), int(at.Second)*1e6, time.UTC)
		add(cut(wrong.Format("06/01/02 15:04:05.000000")))
	case etw.UTF16ValueKind:
		text := etw.UTF16(v.Bytes()).String()
		add(cut(text))
	case etw.ANSIValueKind:
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
