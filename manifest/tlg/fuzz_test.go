package tlg_test

import (
	"testing"

	"github.com/etwgen/etwgen/manifest/tlg"
	"github.com/etwgen/etwgen/manifest/tlg/tlgtest"
)

// FuzzRead: no program makes the reader fail in another way than by an error, and its counts are
// right.
func FuzzRead(f *testing.F) {
	f.Add(tlgtest.Sample())
	im, a, b, c := tlgtest.Program(tlgtest.ARM64)
	begin, end := im.Function(tlgtest.VarsAt, a+1, b+12, c)
	im.Unwinding([2]uint32{begin, end})
	f.Add(im.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := tlg.Read(data)
		if err != nil {
			return
		}
		checkRegions(t, file)
		of := 0
		for _, g := range file.Groups() {
			of += len(g.Events)
		}
		if of != len(file.Events) {
			t.Errorf("%d of %d events are in a group", of, len(file.Events))
		}
		for _, e := range file.Events {
			if len(e.Owners) == 0 && len(file.Providers) > 0 {
				t.Errorf("event %q is of no provider", e.Desc.Name)
			}
		}
	})
}
