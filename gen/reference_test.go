package gen

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
)

// referenceManifest has one of everything that a page shows: versions that do
// and do not extend each other, a pointer in the middle, a text, an array of
// structs, an enumeration, flags, and text that means something to Markdown.
const referenceManifest = `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"
    xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"
    xmlns:etwgen="https://github.com/etwgen/etwgen/manifest">
  <instrumentation>
    <events>
      <provider name="Sample" guid="{11111111-2222-3333-4444-555555555555}" symbol="SAMPLE" etwgen:doc="A sample.">
        <keywords><keyword name="WorkKeyword" mask="0x4" etwgen:doc="Work | play."/></keywords>
        <tasks>
          <task name="Work" value="3" etwgen:doc="What is done.">
            <opcodes><opcode name="Step" value="11"/></opcodes>
          </task>
        </tasks>
        <maps>
          <valueMap name="KindMap" etwgen:doc="A Kind of work.">
            <map value="0x1" message="$(string.Kind.Hard)" etwgen:doc="Hard work."/>
          </valueMap>
        </maps>
        <templates>
          <template tid="Step"><data name="Count" inType="win:UInt16" etwgen:doc="How many."/></template>
          <template tid="Step_V1">
            <data name="Count" inType="win:UInt16"/>
            <data name="Where" inType="win:Pointer"/>
            <data name="Kind" inType="win:UInt8" map="KindMap" etwgen:doc="What kind."/>
            <data name="Note" inType="win:UnicodeString" etwgen:doc="A *note*."/>
            <struct name="Values" count="Count"><data name="Size" inType="win:UInt32"/><data name="At" inType="win:Pointer"/></struct>
          </template>
          <template tid="Step_V2"><data name="Other" inType="win:UInt32"/></template>
        </templates>
        <events>
          <event value="7" version="0" symbol="Step" task="Work" opcode="Step" level="win:Informational" keywords="WorkKeyword"
              template="Step" etwgen:doc="A step was done."/>
          <event value="7" version="1" symbol="Step_V1" task="Work" opcode="Step" level="win:Informational" keywords="WorkKeyword"
              template="Step_V1" etwgen:doc="A step was done. Version 1 says more."/>
          <event value="7" version="2" symbol="Step_V2" task="Work" opcode="Step" level="win:Verbose" template="Step_V2"
              etwgen:doc="A step was done."/>
        </events>
      </provider>
    </events>
  </instrumentation>
  <localization><resources culture="en-US"><stringTable><string id="Kind.Hard" value="Hard"/></stringTable></resources></localization>
</instrumentationManifest>
`

const wantTaskPage = ReferenceHeader + `

# Work

What is done.

Task 3 of [Sample](README.md).

| id | event | level | keywords | when it is written |
|---|---|---|---|---|
| 7 | [Step](#7-step) | Verbose (5) |  | A step was done. |

## 7 Step

A step was done.

| version | symbol | Go type | level | opcode | keywords | bytes | remarks |
|---|---|---|---|---|---|---|---|
| 0 | ¬Step¬ | ¬sample.Step¬ | Informational (4) | ¬Step¬ (11) | ¬WorkKeyword¬ = ¬0x4¬ | 2 |  |
| 1 | ¬Step_V1¬ | ¬sample.StepV1¬ | Informational (4) | ¬Step¬ (11) | ¬WorkKeyword¬ = ¬0x4¬ | 9/13+ | Version 1 says more. |
| 2 | ¬Step_V2¬ | ¬sample.StepV2¬ | Verbose (5) | ¬Step¬ (11) |  | 4 |  |

Any version: ¬sample.AnyStep¬.

Fields of versions 0 and 1:

| offset | field | type | Go type | meaning |
|---|---|---|---|---|
| 0 | ¬Count¬ | ¬UInt16¬ | ¬uint16¬ | How many. |
| 2 | ¬Where¬ | ¬Pointer¬ | ¬etw.Pointer¬ | Since version 1. |
| 6/10 | ¬Kind¬ | ¬UInt8¬ | [¬Kind¬](#kind) | What kind. Since version 1. |
| 7/11 | ¬Note¬ | ¬UnicodeString¬ | ¬etw.UTF16¬ | A \*note\*. Since version 1. |
| varies | ¬Values¬ | ¬struct[Count]¬ | ¬StepV1Values¬ | Since version 1. |
| +0 | ¬Values[].Size¬ | ¬UInt32¬ | ¬uint32¬ |  |
| +4 | ¬Values[].At¬ | ¬Pointer¬ | ¬etw.Pointer¬ |  |

Fields of version 2:

| offset | field | type | Go type | meaning |
|---|---|---|---|---|
| 0 | ¬Other¬ | ¬UInt32¬ | ¬uint32¬ |  |

## Values

### Kind

A Kind of work.

| value | Go constant | name | meaning |
|---|---|---|---|
| ¬0x1¬ | ¬sample.KindHard¬ | Hard | Hard work. |
`

func TestReference(t *testing.T) {
	m, warnings, err := manifest.Parse("sample.man", []byte(referenceManifest), manifest.Options{})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("error %v, warnings %v", err, warnings)
	}
	files, err := Reference(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	pages := make(map[string]string)
	for _, f := range files {
		pages[f.Name] = string(f.Content)
	}
	want := strings.ReplaceAll(wantTaskPage, "¬", "`")
	if d := gocmp.Diff(want, pages["sample/work.md"]); d != "" {
		t.Errorf("page of the task (-want +got):\n%s", d)
	}
	for name, line := range map[string]string{
		"README.md":        "| [Sample](sample/README.md) | `sample` | 3 | A sample. |",
		"sample/README.md": "| `WorkKeyword` | `0x4` | `sample.KeywordWork` | Work \\| play. |",
	} {
		if !strings.Contains(pages[name], line+"\n") {
			t.Errorf("%s lacks the line %s:\n%s", name, line, pages[name])
		}
	}
	if len(files) != 3 {
		t.Errorf("%d files, want 3", len(files))
	}
}

// TestReferenceWithoutSymbols: names come from tasks and opcodes, and versions
// may have no fields, or others than those before.
func TestReferenceWithoutSymbols(t *testing.T) {
	m := testio.ParseFile(t, manifest.ParseFile, "../tests/golden/titles/in.man", manifest.Options{})
	event := *m.Providers[0].Events[0]
	for version, template := range map[uint8]*manifest.Template{3: nil, 5: nil, 7: nil} {
		again := event
		again.Version, again.Template = version, template
		m.Providers[0].Events = append(m.Providers[0].Events, &again)
	}
	slices.SortFunc(m.Providers[0].Events, func(a, b *manifest.Event) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Version, b.Version))
	})
	files, err := Reference(m, Options{Package: "p"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name != "p/order.md" {
			continue
		}
		for _, line := range []string{
			"## 1 Order/Placed", "## 4 Order", "Fields of version 0:", "No fields in versions 3, 5, and 7.", "No fields.",
			"| 7 |  | `p.OrderPlacedV7` | Informational (4) | `Placed` (20) |  | 0 |  |",
		} {
			if !strings.Contains(string(f.Content), line+"\n") {
				t.Errorf("%s lacks the line %s:\n%s", f.Name, line, f.Content)
			}
		}
		return
	}
	t.Error("no page p/order.md")
}

// TestReferenceOfOnePackage checks that the name of the package can be given.
func TestReferenceOfOnePackage(t *testing.T) {
	m := testio.Parse(t, manifest.Parse, "sample.man", referenceManifest, manifest.Options{})
	files, err := Reference(m, Options{Package: "mine", Rename: map[string]string{"Step": "Stride"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name == "mine/work.md" && strings.Contains(string(f.Content), "`mine.Stride`") {
			return
		}
	}
	t.Error("no page mine/work.md with mine.Stride")
}

// TestReferenceOfEventSource: the keywords of sessions, which .NET adds to each manifest of an
// EventSource, have no constants, and are not on the page.
func TestReferenceOfEventSource(t *testing.T) {
	const session = `<keyword name="Session3" mask="0x100000000000"/>`
	for _, more := range []string{"", `<keyword name="Work" mask="0x4"/>`} {
		manifestText := regexp.MustCompile(`(?s)<keywords>.*</keywords>`).ReplaceAllLiteralString(referenceManifest, "<keywords>"+session+more+"</keywords>")
		manifestText = strings.ReplaceAll(manifestText, `keywords="WorkKeyword"`, "")
		m := testio.Parse(t, manifest.Parse, "sample.man", manifestText, manifest.Options{})
		m.Providers[0].EventSource = true
		files, err := Reference(m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(files, func(f File) bool { return f.Name == "sample/README.md" })
		page := string(files[i].Content)
		if strings.Contains(page, "Session3") || strings.Contains(page, "sample.KeywordWork") != (more != "") {
			t.Errorf("with %q the page is:\n%s", more, page)
		}
	}
}

func TestMarkdown(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain", "plain"},
		{"a|b <c> d_e *f* `g` #h [i]", "a\\|b &lt;c&gt; d\\_e \\*f\\* \\`g\\` \\#h \\[i\\]"},
		{"one\nline", "one line"},
		{"two\n\nparagraphs", "two<br>paragraphs"},
	}
	for _, test := range tests {
		if got := text(test.in); got != test.want {
			t.Errorf("text(%q) = %q, want %q", test.in, got, test.want)
		}
	}
	for in, want := range map[string]string{"": "", "a_b": "`a_b`", "a|b": "`a\\|b`", "a`b": "`` a`b ``"} {
		if got := code1(in); got != want {
			t.Errorf("code1(%q) = %q, want %q", in, got, want)
		}
	}
}
