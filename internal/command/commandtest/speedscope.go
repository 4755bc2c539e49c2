package commandtest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/export/speedscope"
)

// Speedscope holds a file against the rules of the format, and returns the sum
// of its weights.
func Speedscope(t *testing.T, where, text string) int64 {
	t.Helper()
	var f struct {
		Schema string `json:"$schema"`
		Shared struct {
			Frames []struct {
				Name *string
				File *string
				Line *int
			}
		}
		Profiles []struct {
			Type, Unit           string
			Name                 *string
			StartValue, EndValue int64
			Samples              [][]int
			Weights              []int64
		}
		ActiveProfileIndex int
		Exporter, Name     string
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil || f.Schema != speedscope.Schema || len(f.Profiles) == 0 || f.ActiveProfileIndex >= len(f.Profiles) {
		t.Fatalf("%s: %v, %.200s", where, err, text)
	}
	for _, frame := range f.Shared.Frames {
		if frame.Name == nil {
			t.Fatalf("%s: a frame has no name", where)
		}
	}
	total := int64(0)
	for _, p := range f.Profiles {
		sum := int64(0)
		for i, stack := range p.Samples {
			for _, frame := range stack {
				if frame < 0 || frame >= len(f.Shared.Frames) {
					t.Fatalf("%s: there is no frame %d", where, frame)
				}
			}
			sum += p.Weights[i]
		}
		if p.Type != "sampled" || p.Name == nil || len(p.Samples) != len(p.Weights) || p.StartValue != 0 || p.EndValue != sum {
			t.Errorf("%s: profile %q from %d to %d has %d samples, %d weights of %d", where, *p.Name, p.StartValue, p.EndValue, len(p.Samples), len(p.Weights), sum)
		}
		switch p.Unit {
		case "none", "nanoseconds", "bytes":
		default:
			t.Errorf("%s: unit %q", where, p.Unit)
		}
		total += sum
	}
	return total
}
