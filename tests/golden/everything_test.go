package golden

import (
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestMethods: the packages of the cases call every method of Cursor and
// Appender. So the names that the generator has for them are those of the
// runtime, and none is there for nobody.
func TestMethods(t *testing.T) {
	paths, err := filepath.Glob("*/want/*.etw.go")
	if err != nil {
		t.Fatal(err)
	}
	called := make(map[string]bool) // by receiver, c or a, and method
	call := regexp.MustCompile(`\b[ca]\.[A-Z]\w*\(`)
	for _, path := range paths {
		code := testio.Read(t, path)
		for _, found := range call.FindAllString(string(code), -1) {
			called[found] = true
		}
	}
	for receiver, typ := range map[string]reflect.Type{"c": reflect.TypeFor[*etw.Cursor](), "a": reflect.TypeFor[*etw.Appender]()} {
		for i := range typ.NumMethod() {
			if name := typ.Method(i).Name; !called[receiver+"."+name+"("] {
				t.Errorf("no case calls %s.%s", typ.Elem(), name)
			}
		}
	}
}

// A shape is the form of a field, in all but its name.
type shape struct {
	in            string // the element that it is in: an event, a struct, or an array of structs
	inType        etw.InType
	count, length etw.SizeKind
	outer         bool // a field outside of the struct gives a size
	mapped        bool
}

// TestEverything: the case named so has every shape of field that the generator
// takes.
func TestEverything(t *testing.T) {
	m := testio.ParseFile(t, manifest.ParseFile, "everything/in.man", manifest.Options{Lenient: true})
	has := make(map[shape]bool)
	for _, template := range m.Providers[0].Templates {
		addShapes(has, "event", template.Fields)
	}
	taken := 0
	for _, s := range shapes() {
		if !takes(t, s) {
			continue
		}
		taken++
		if !has[s.shape] {
			t.Errorf("the generator takes a field that is not in the case: %s", s.items)
		}
	}
	if taken < 300 {
		t.Errorf("the generator takes only %d shapes", taken)
	}
}

func addShapes(has map[shape]bool, in string, fields []*manifest.Field) {
	for _, f := range fields {
		has[shape{in, f.Type, f.Count.Kind, f.Length.Kind, f.Count.Up+f.Length.Up > 0, f.Map != nil}] = true
		switch {
		case f.Type != etw.InStruct:
		case f.Count.Kind == etw.SizeNone:
			addShapes(has, "struct", f.Fields)
		default:
			addShapes(has, "structs", f.Fields)
		}
	}
}

// A trial is a shape with the items of a template that has such a field.
type trial struct {
	shape
	items string
}

// shapes returns every combination of type, count, length and place, whether it
// makes sense or not.
func shapes() []trial {
	sizes := map[etw.SizeKind]string{etw.SizeNone: "", etw.SizeConst: "2", etw.SizeField: "N", etw.SizeRest: "*"}
	attribute := func(name string, kind etw.SizeKind) string {
		switch {
		case kind == etw.SizeNone:
			return ""
		case kind == etw.SizeRest:
			return fmt.Sprintf(` %s="1" etwgen:%[1]s="*"`, name)
		}
		return fmt.Sprintf(` %s="%s"`, name, sizes[kind])
	}
	const n = `<data name="N" inType="win:UInt8"/>`
	var list []trial
	for t := etw.InUnicodeString; t <= etw.InCountedBinary; t++ {
		for count := range sizes {
			for length := range sizes {
				for _, values := range []string{"", ` map="M"`} {
					item := fmt.Sprintf(`<data name="F" inType="%s"%s%s%s/>`, t, values, attribute("count", count), attribute("length", length))
					if t == etw.InStruct {
						item = fmt.Sprintf(`<struct name="F"%s%s%s><data name="X" inType="win:Pointer"/></struct>`, values, attribute("count", count), attribute("length", length))
					}
					s := shape{inType: t, count: count, length: length, mapped: values != ""}
					add := func(in string, outer bool, items string) {
						s.in, s.outer = in, outer
						list = append(list, trial{s, items})
					}
					add("event", false, n+item)
					for in, start := range map[string]string{"struct": `<struct name="S">`, "structs": `<struct name="S" count="2">`} {
						add(in, false, start+n+item+"</struct>")
						if count == etw.SizeField || length == etw.SizeField {
							add(in, true, n+start+item+"</struct>")
						}
					}
				}
			}
		}
	}
	return list
}

// takes reports whether the generator takes a trial, with nothing lost.
func takes(t *testing.T, s trial) bool {
	t.Helper()
	text := `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events" xmlns:etwgen="https://github.com/etwgen/etwgen/manifest">
<instrumentation xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"><events>
<provider name="P" guid="{0e1d9b5a-93a3-4c8e-8f0e-1c6f3c2d7a10}" symbol="P" resourceFileName="p.dll" messageFileName="p.dll">
<maps><valueMap name="M"><map value="1" message="$(string.One)"/></valueMap></maps>
<templates><template tid="T">` + s.items + `</template></templates>
<events><event value="1" symbol="E" template="T"/></events>
</provider></events></instrumentation>
<localization><resources culture="en-US"><stringTable><string id="One" value="One"/></stringTable></resources></localization>
</instrumentationManifest>`
	m, _, err := manifest.Parse("t.man", []byte(text), manifest.Options{Lenient: true})
	if err != nil {
		return false
	}
	if _, err = gen.Generate(m, gen.Options{Package: "p", Lenient: true}); err != nil {
		return false
	}
	parsed := make(map[shape]bool)
	addShapes(parsed, "event", m.Providers[0].Templates[0].Fields)
	return parsed[s.shape]
}
