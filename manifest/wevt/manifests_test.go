package wevt_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/wevt"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestManifests compiles the manifests of the corpus, decodes that, and compares the
// descriptions of all events: the facts that decode payloads are equal.
func TestManifests(t *testing.T) {
	compiled, files, events := 0, 0, 0
	reasons := make(map[string]int)
	for _, pattern := range [][]string{{"manifests", "*", "*"}, {"eventsource", "*.man"}, {"wevt", "*.man"}} {
		for i, path := range corpus.Share(corpus.Glob(t, pattern...), 150) {
			if testing.Short() && i%8 != 0 {
				continue
			}
			m, _, err := manifest.ParseFile(path, manifest.Options{Lenient: true})
			if err != nil {
				continue // what cannot be read is known to the tests of package manifest
			}
			files++
			res, err := wevt.Encode(m, wevt.EncodeOptions{})
			if err != nil {
				reasons[reason(t, err)]++
				continue
			}
			compiled++
			again, _, err := wevt.Decode(filepath.Base(path), res, wevt.Options{})
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			events += checkSameEvents(t, filepath.Base(path), m, again)
		}
	}
	t.Logf("%d of %d manifests are compiled, and %d events are equal", compiled, files, events)
	for r, n := range reasons {
		t.Logf("%d are not: %s", n, r)
	}
}

// reason returns why a manifest has no binary form, without its names.
func reason(t *testing.T, err error) string {
	t.Helper()
	var list manifest.ErrorList
	if !errors.As(err, &list) {
		t.Fatal(err)
	}
	for _, s := range []string{"layout is unknown", "which is not declared", "same id and version", "id is more than", "takes the rest", "classic", "no known number", "has type"} {
		if strings.Contains(list[0].Msg, s) {
			return s
		}
	}
	t.Errorf("refused for an unknown reason: %v", err)
	return ""
}

// checkSameEvents compares events by their run-time descriptions.
func checkSameEvents(t *testing.T, name string, want, got *manifest.Manifest) int {
	t.Helper()
	n := 0
	for i, p := range want.Describe() {
		q := got.Describe()[i]
		if p.Desc.Name != q.Desc.Name || p.Desc.GUID != q.Desc.GUID || len(p.Events) != len(q.Events) {
			t.Errorf("%s: provider %v with %d events is %v with %d", name, p.Desc, len(p.Events), q.Desc, len(q.Events))
			continue
		}
		for j, e := range p.Events {
			other := *q.Events[j]
			other.Name, other.Provider = e.Name, e.Provider // symbols are lost
			if a, b := withoutDefaults(e.Fields), withoutDefaults(other.Fields); !reflect.DeepEqual(a, b) {
				t.Errorf("%s: event %d version %d has fields\n%+v, want\n%+v", name, e.ID, e.Version, b, a)
				return n
			}
			other.Fields = e.Fields
			if !reflect.DeepEqual(*e, other) {
				t.Errorf("%s: %+v, want %+v", name, other, *e)
				return n
			}
			n++
		}
	}
	return n
}

// withoutDefaults returns fields without outTypes that are those of the inType:
// whether they were written is lost.
func withoutDefaults(fields []etw.FieldDesc) []etw.FieldDesc {
	out := make([]etw.FieldDesc, len(fields))
	for i, f := range fields {
		if f.Out == manifest.DefaultOut(f.Type) {
			f.Out = etw.OutDefault
		}
		f.Fields = withoutDefaults(f.Fields)
		out[i] = f
	}
	return out
}
