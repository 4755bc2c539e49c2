package gen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// buildTemplate makes the model of a package with one event, whose template has
// the given items, and a map named M.
func buildTemplate(t *testing.T, items string) *pkg {
	t.Helper()
	text := `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
<instrumentation xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"><events>
<provider name="P" guid="{0e1d9b5a-93a3-4c8e-8f0e-1c6f3c2d7a10}" symbol="P">
<maps><valueMap name="M"><map value="1" message="$(string.One)"/></valueMap></maps>
<templates><template tid="T">` + items + `</template></templates>
<events><event value="1" symbol="E" template="T"/></events>
</provider></events></instrumentation>
<localization><resources culture="en-US"><stringTable><string id="One" value="One"/></stringTable></resources></localization>
</instrumentationManifest>`
	m := testio.Parse(t, manifest.Parse, "t.man", text, manifest.Options{})
	p, err := build(m, m.Providers[0], Options{Package: "p"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// item returns an item of a template: name, type and further attributes.
func item(name, inType string, attrs ...string) string {
	return fmt.Sprintf(`<data name="%s" inType="win:%s" %s/>`, name, inType, strings.Join(attrs, " "))
}

// TestLayout checks offsets: the prefix of fixed offsets, and the least size with pointers
// of 4 and of 8 bytes.
func TestLayout(t *testing.T) {
	tests := []struct {
		name    string
		items   string
		offsets []int // of the prefix
		prefix  int   // its size
		least32 int
		least64 int
		exact   bool
	}{
		{"numbers", item("A", "UInt8") + item("B", "UInt16") + item("C", "UInt32") + item("D", "UInt64"), []int{0, 1, 3, 7}, 15, 15, 15, true},
		{"times", item("A", "FILETIME") + item("B", "SYSTEMTIME") + item("C", "GUID"), []int{0, 8, 24}, 40, 40, 40, true},
		{"pointer", item("A", "UInt8") + item("B", "Pointer") + item("C", "UInt8"), []int{0}, 1, 6, 10, true},
		{"string", item("A", "Double") + item("B", "UnicodeString") + item("C", "Float"), []int{0}, 8, 14, 14, false},
		{"ANSI first", item("A", "AnsiString") + item("B", "Boolean"), nil, 0, 5, 5, false},
		{"SID", item("A", "SID"), nil, 0, 8, 8, false},
		{"constant length", item("A", "UnicodeString", `length="15"`) + item("B", "Binary", `length="3"`), nil, 0, 33, 33, true},
		{"length of a field", item("N", "UInt16") + item("A", "Binary", `length="N"`), []int{0}, 2, 2, 2, false},
		{"constant count", item("A", "UInt16", `count="3"`) + item("B", "Pointer", `count="2"`), nil, 0, 14, 22, true},
		{"count of a field", item("N", "UInt32") + item("A", "UInt64", `count="N"`), []int{0}, 4, 4, 4, false},
		{"strings", item("A", "UnicodeString", `count="3"`) + item("B", "AnsiString", `count="2" length="5"`), nil, 0, 16, 16, false},
		{"struct", `<struct name="S">` + item("A", "UInt8") + item("B", "Pointer") + `</struct>` + item("C", "UInt8"), nil, 0, 6, 10, true},
		{"structs", item("N", "UInt8") + `<struct name="S" count="N">` + item("A", "UInt8") + `</struct>`, []int{0}, 1, 1, 1, false},
		{"three structs", `<struct name="S" count="3">` + item("A", "UInt8") + item("B", "Pointer") + `</struct>`, nil, 0, 15, 27, true},
		{"map", item("A", "UInt32", `map="M"`) + item("B", "UInt8", `map="M"`), []int{0, 4}, 5, 5, 5, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := buildTemplate(t, tt.items).layouts[0]
			var offsets []int
			for _, f := range l.fields[:l.prefix] {
				offsets = append(offsets, f.offset)
			}
			x, exact := l.least()
			got := fmt.Sprint(offsets, l.prefixSize, x.narrow, x.wide, exact)
			want := fmt.Sprint(tt.offsets, tt.prefix, tt.least32, tt.least64, tt.exact)
			if got != want {
				t.Errorf("layout %s, want %s", got, want)
			}
		})
	}
}

func TestExtends(t *testing.T) {
	field := func(name string, typ etw.InType) *manifest.Field { return &manifest.Field{Name: name, Type: typ} }
	template := func(fields ...*manifest.Field) *manifest.Template { return &manifest.Template{Fields: fields} }
	a, b := field("A", etw.InUInt32), field("B", etw.InUInt32)
	n := manifest.Size{Kind: etw.SizeField, Field: a}
	tests := []struct {
		name     string
		new, old *manifest.Template
		want     bool
	}{
		{"appends", template(a, b), template(a), true},
		{"the same", template(a, b), template(a, b), true},
		{"from nothing", template(a), nil, true},
		{"to nothing", nil, template(a), false},
		{"drops", template(a), template(a, b), false},
		{"inserts", template(b, a), template(a), false},
		{"widens", template(field("A", etw.InUInt64)), template(a), false},
		{"renames", template(field("C", etw.InUInt32)), template(a), false},
		{"counts otherwise", template(a, &manifest.Field{Name: "V", Type: etw.InUInt8, Count: n}),
			template(a, &manifest.Field{Name: "V", Type: etw.InUInt8}), false},
		{"counts the same", template(a, &manifest.Field{Name: "V", Type: etw.InUInt8, Count: n}, b),
			template(a, &manifest.Field{Name: "V", Type: etw.InUInt8, Count: n}), true},
	}
	for _, tt := range tests {
		if got := extends(tt.new, tt.old); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestModelExample keeps the worked example of model.go true.
func TestModelExample(t *testing.T) {
	p := buildTemplate(t, item("Count", "UInt32")+item("ClrInstanceID", "UInt16")+
		`<struct name="Values" count="Count">`+item("TypeID", "UInt64")+item("Name", "UnicodeString")+`</struct>`)
	l, s := p.layouts[0], p.structs[0]
	x, _ := s.least()
	got := []any{l.prefix, l.prefixSize, l.fields[1].offset, s.goName, s.view, x.wide}
	if diff := cmp.Diff([]any{2, 6, 4, "EValue", "EValues", 10}, got); diff != "" {
		t.Error(diff)
	}
}
