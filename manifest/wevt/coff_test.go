package wevt_test

import (
	"bytes"
	"debug/pe"
	"testing"
)

// TestObject reads object files as linkers do. The example service holds the
// programs that go build makes with them against its manifest.
func TestObject(t *testing.T) {
	_, res := compiled(t, 5)
	for arch, machine := range map[string]uint16{
		"386": pe.IMAGE_FILE_MACHINE_I386, "amd64": pe.IMAGE_FILE_MACHINE_AMD64, "arm64": pe.IMAGE_FILE_MACHINE_ARM64,
	} {
		object, err := res.Object(arch)
		if err != nil {
			t.Fatal(err)
		}
		f, err := pe.NewFile(bytes.NewReader(object))
		if err != nil {
			t.Fatal(err)
		}
		if f.Machine != machine || len(f.Sections) != 1 || f.Sections[0].Name != ".rsrc" || len(f.Symbols) != 1 {
			t.Errorf("%s: machine %#x, sections %v, symbols %v", arch, f.Machine, f.Sections, f.Symbols)
		}
		if want := 1 + len(res.Messages); int(f.Sections[0].NumberOfRelocations) != want {
			t.Errorf("%s: %d addresses of resources, want %d", arch, f.Sections[0].NumberOfRelocations, want)
		}
	}
	if _, err := res.Object("vax"); err == nil {
		t.Error("an architecture that Windows does not run on is accepted")
	}
}
