package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// providerHead opens a manifest with one provider, on the first line. The rest of a test
// begins on line 2.
const providerHead = `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events" xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:etwgen="https://github.com/etwgen/etwgen/manifest"><instrumentation><events><provider name="Test-Provider" guid="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f}" symbol="TEST">
`

const providerTail = `
</provider></events></instrumentation></instrumentationManifest>`

// inProvider returns a manifest with a provider of the given content.
func inProvider(content string) string { return providerHead + content + providerTail }

// inTemplate returns a manifest with one template, used by one event.
func inTemplate(fields string) string {
	return inProvider(`<templates><template tid="T">
` + fields + `
</template></templates><events><event value="1" symbol="E" template="T"/></events>`)
}

// withStrings returns a manifest with a provider and a string table.
func withStrings(content, strings string) string {
	return providerHead + content + `
</provider></events></instrumentation><localization><resources culture="en-US"><stringTable>
` + strings + `
</stringTable></resources></localization></instrumentationManifest>`
}

// unmark removes the marks §1, §2, ... from a manifest and returns the places
// that they were at.
func unmark(t *testing.T, marked string) (src string, places map[string]string) {
	t.Helper()
	places = make(map[string]string)
	var out strings.Builder
	line, col := 1, 1
	for rest := marked; rest != ""; {
		if after, ok := strings.CutPrefix(rest, "§"); ok {
			mark := after[:1]
			if places[mark] != "" {
				t.Fatalf("mark %s is there twice", mark)
			}
			places[mark] = fmt.Sprintf("%d:%d", line, col)
			rest = after[1:]
			continue
		}
		if rest[0] == '\n' {
			line, col = line+1, 1
		} else {
			col++
		}
		out.WriteByte(rest[0])
		rest = rest[1:]
	}
	return out.String(), places
}

// diagnostics returns a list in the form "mark: message".
func diagnostics(list ErrorList, places map[string]string) []string {
	var out []string
	for _, e := range list {
		at := fmt.Sprintf("%d:%d", e.Pos.Line, e.Pos.Col)
		for mark, place := range places {
			if place == at {
				at = mark
			}
		}
		out = append(out, at+": "+e.Msg)
	}
	return out
}

// checkDiagnostics parses src and compares the diagnostics.
func checkDiagnostics(t *testing.T, src string, places map[string]string, opts Options, wantErrors, wantWarnings []string) *Manifest {
	t.Helper()
	m, warnings, err := Parse("t.man", []byte(src), opts)
	errs, ok := err.(ErrorList)
	if err != nil && !ok {
		t.Fatalf("error of type %T: %v", err, err)
	}
	if (m == nil) != (err != nil) {
		t.Errorf("manifest %v with error %v", m, err)
	}
	if d := cmp.Diff(wantErrors, diagnostics(errs, places)); d != "" {
		t.Errorf("errors (-want +got):\n%s", d)
	}
	if d := cmp.Diff(wantWarnings, diagnostics(warnings, places)); d != "" {
		t.Errorf("warnings (-want +got):\n%s", d)
	}
	return m
}

// mustParse parses a manifest that has no faults.
func mustParse(t testing.TB, src string, opts Options) *Manifest {
	t.Helper()
	m, warnings, err := Parse("t.man", []byte(src), opts)
	if err != nil {
		t.Fatalf("%v\nin:\n%s", err, src)
	}
	for _, w := range warnings {
		t.Errorf("warning: %v", w)
	}
	return m
}
