package system_test

import (
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestMappings: events of recorders of Linux make the images of a program: those files that
// have code, each once though its parts are mapped one by one.
func TestMappings(t *testing.T) {
	for _, file := range []string{"universal-native", "universal-dotnet", "universal-tracepoints"} {
		var mux etw.Mux
		m := system.Of(&mux)
		testtrace.Run(t, &mux, corpus.File(t, "universal", file+".nettrace"))
		for _, p := range m.Processes() {
			all := p.Images.All()
			for i, image := range all {
				if image.Size == 0 || image.Path == "" || image.Path[0] != '/' {
					t.Errorf("%s: process %d has %+v", file, p.PID, image)
				}
				if got := m.Image(p, image.Base+image.Size-1, image.Start); got == nil {
					t.Errorf("%s: nothing is at the end of %s", file, image.Path)
				}
				for _, other := range all[:i] {
					if other.Base < image.Base+image.Size && image.Base < other.Base+other.Size {
						t.Errorf("%s: %s and %s of process %d overlap", file, image.Path, other.Path, p.PID)
					}
				}
			}
		}
		if r := m.ImagesResult(); len(r.Images) < 20 || len(m.Kernel().All()) != 1 {
			t.Errorf("%s: %d images, %d of the kernel", file, len(r.Images), len(m.Kernel().All()))
		}
	}
}

// Of the program that was made for it, the libraries are known.
func TestMappedPrograms(t *testing.T) {
	var mux etw.Mux
	m := system.Of(&mux)
	testtrace.Run(t, &mux, corpus.File(t, "universal", "universal-native.nettrace"))
	want := map[string]bool{
		"/srv/native.stripped": true, "/usr/lib/x86_64-linux-gnu/libc.so.6": true, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30": true,
		"/usr/lib/x86_64-linux-gnu/libgcc_s.so.1": true, "/usr/lib/x86_64-linux-gnu/libm.so.6": true, "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2": true,
	}
	for _, i := range m.Process(2).Images.All() {
		if !want[i.Path] || len(i.BuildID) != 40 {
			t.Errorf("%s, build %q, is not expected", i.Path, i.BuildID)
		}
		delete(want, i.Path)
	}
	for path := range want {
		t.Errorf("%s is missing", path)
	}
}
