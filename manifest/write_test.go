package manifest_test

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/google/go-cmp/cmp"
)

// forgetPlaces removes the parts from a model that depend on the layout of its file.
func forgetPlaces(m *manifest.Manifest) *manifest.Manifest {
	forget(reflect.ValueOf(m), make(map[any]bool))
	return m
}

func forget(v reflect.Value, seen map[any]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && !seen[v.Interface()] {
			seen[v.Interface()] = true
			forget(v.Elem(), seen)
		}
	case reflect.Slice:
		for i := range v.Len() {
			forget(v.Index(i), seen)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[manifest.Pos]() {
			v.SetZero()
			return
		}
		if e, ok := v.Addr().Interface().(*manifest.Event); ok && e.Undispatched != "" {
			e.Undispatched = "for a reason that names a line"
		}
		for i := range v.NumField() {
			forget(v.Field(i), seen)
		}
	}
}

// checkWritten writes a manifest, and reads that.
func checkWritten(t *testing.T, m *manifest.Manifest, opts manifest.Options) {
	t.Helper()
	text := m.AppendXML(nil, "")
	again, _, err := manifest.Parse(m.File, text, opts)
	if err != nil {
		t.Errorf("%s, written and read again: %v", m.File, err)
		return
	}
	if changes := manifest.Compare(m, again); len(changes) > 0 {
		t.Errorf("%s, written and read again, is not what it was: %v", m.File, changes)
	}
	if !reflect.DeepEqual(forgetPlaces(m), forgetPlaces(again)) {
		t.Errorf("%s is another manifest when it is written and read again:\n%.2000s", m.File, cmp.Diff(m, again))
	}
}

// TestCorpusWritten writes the manifests of the corpus that can be read.
func TestCorpusWritten(t *testing.T) {
	files, written := 0, 0
	for _, pattern := range [][]string{{"manifests", "*", "*"}, {"eventsource", "*.man"}, {"wevt", "*.man"}} {
		for _, file := range corpus.Share(corpus.Glob(t, pattern...), 150) {
			data := testio.Read(t, file)
			files++
			opts := manifest.Options{Lenient: true}
			m, _, err := manifest.Parse(filepath.Base(file), data, opts)
			if err != nil {
				t.Logf("refused: %v", err)
				continue
			}
			checkWritten(t, m, opts)
			written++
		}
	}
	t.Logf("%d of %d manifests are equal when they are written and read again", written, files)
}

// TestWritten writes the module's own manifests, which have the extensions that
// those of others lack.
func TestWritten(t *testing.T) {
	for _, pattern := range []string{"../generated/*/*.man", "../tests/golden/*/*.man", "../examples/*/*/*.man"} {
		files := testio.Glob(t, pattern)
		for _, file := range files {
			opts := manifest.Options{Lenient: true}
			if m, _, err := manifest.ParseFile(file, opts); err == nil {
				checkWritten(t, m, opts)
			}
		}
	}
}

// TestWrittenComment writes a comment that would end too early.
func TestWrittenComment(t *testing.T) {
	m := testio.Parse(t, manifest.Parse, "x.man", compared, manifest.Options{})
	text := m.AppendXML(nil, "Made of a--b.dll <x> -->--")
	if _, _, err := manifest.Parse("x.man", text, manifest.Options{}); err != nil {
		t.Errorf("%v in\n%.300s", err, text)
	}
}
