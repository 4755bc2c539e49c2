package gen

import (
	"slices"
	"testing"

	"github.com/etwgen/etwgen/manifest"
)

// TestFiles checks how events are spread over files.
func TestFiles(t *testing.T) {
	m := &manifest.Manifest{File: "m", Providers: []*manifest.Provider{{
		Name: "P",
		Events: []*manifest.Event{
			{ID: 1, Symbol: "Opened", Task: &manifest.Task{Name: "Door", Value: 1}},
			{ID: 2, Symbol: "Ticked", Task: &manifest.Task{Name: "Clock", Value: 2}},
			{ID: 3, Symbol: "Stopped"},
		},
	}}}
	for _, tt := range []struct {
		files string
		want  []string
	}{
		{"", []string{"clock.etw.go", "door.etw.go", "events.etw.go", "provider.etw.go"}},
		{"task", []string{"clock.etw.go", "door.etw.go", "events.etw.go", "provider.etw.go"}},
		{"one", []string{"events.etw.go", "provider.etw.go"}},
	} {
		files, err := Generate(m, Options{Package: "p", Files: tt.files})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files {
			got = append(got, f.Name)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("Files %q: %v, want %v", tt.files, got, tt.want)
		}
	}
}
