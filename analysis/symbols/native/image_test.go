package native

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/r2r"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// openImages returns a folder with copies of files.
func openImages(t *testing.T, files ...string) *Dir {
	t.Helper()
	folder := t.TempDir()
	for _, path := range files {
		data := testio.Read(t, path)
		testio.Write(t, filepath.Join(folder, filepath.Base(path)), data)
	}
	return testio.Open(t, Open, folder)
}

// TestPrecompiled names places in images that were compiled for Windows and Linux, if they
// are of the build that a trace tells of.
func TestPrecompiled(t *testing.T) {
	for _, test := range []struct {
		path   []string
		inFile bool
		method string
		want   string
	}{
		{[]string{"assemblies", "System.Linq.dll"}, true, "GetUsingResourceKeysSwitchValue", "System.Linq!System.SR.GetUsingResourceKeysSwitchValue()"},
		{[]string{"r2r", "small", "windows-x64", "Shapes.dll"}, false, "Funclets", "Shapes!Shapes.Kinds.Funclets(class System.String)"},
	} {
		path := corpus.File(t, test.path...)
		x, err := readImage(path)
		if err != nil {
			t.Fatal(err)
		}
		n := symbols.Native{Module: `C:\bakery\` + strings.ToUpper(filepath.Base(path)), Offset: start(x, test.method) + 2, InFile: test.inFile, TimeDateStamp: x.TimeDateStamp}
		if test.inFile {
			n.Offset -= 0x10000 // where Linux maps the start of the file
			n.PDB = symbols.PDB{GUID: etw.GUID(x.PDBs()[0].Signature), Age: 1, Path: "System.Linq.pdb"}
		}
		d := openImages(t, path)
		wrong, unknown := n, n
		wrong.TimeDateStamp++
		unknown.TimeDateStamp, unknown.PDB = 0, symbols.PDB{}
		if d.Name(&n); n.Full() != test.want || n.Offset != 2 || n.InFile {
			t.Errorf("%+v, want %s", n, test.want)
		}
		if m := n.Method(); m.Full() != test.want || m.Namespace != n.Type {
			t.Errorf("%s of %s, want %s", m.Full(), m.Namespace, test.want)
		}
		if len(d.Faults()) != 0 {
			t.Error(d.Faults())
		}
		if d.Name(&wrong); wrong.Function != "" || len(d.Faults()) != 1 || !errors.Is(d.Faults()[0], errBuild) {
			t.Errorf("of another build: %+v, %v", wrong, d.Faults())
		}
		d = openImages(t, path)
		if d.Name(&unknown); unknown.Function != "" || len(d.Faults()) != 1 || !errors.Is(d.Faults()[0], errNoBuild) {
			t.Errorf("of a build that is not known: %+v, %v", unknown, d.Faults())
		}
	}
}

// start returns where a method begins.
func start(x *r2r.Image, name string) uint64 {
	for i := range x.Len() {
		if m := x.Method(i); m.Name().Method == name {
			return uint64(m.Start())
		}
	}
	return 0
}

// TestComposite names methods of assemblies whose code is in another file, with their own
// beside it.
func TestComposite(t *testing.T) {
	folder := filepath.Dir(corpus.File(t, "r2r", "small", "composite", "all.r2r.dll"))
	path := func(name string) string { return filepath.Join(folder, name) }
	x, err := readImage(path("all.r2r.dll"))
	if err != nil {
		t.Fatal(err)
	}
	at := uint64(0x116b0 + 1) // TopLevel.Plain
	name := func(d *Dir) symbols.Native {
		n := symbols.Native{Module: "/bakery/all.r2r.dll", Offset: at, TimeDateStamp: x.TimeDateStamp}
		d.Name(&n)
		return n
	}
	d := openImages(t, path("all.r2r.dll"), path("Shapes.dll"), path("Tiny.dll"))
	if n := name(d); n.Function != "TopLevel.Plain(int32)" || n.Module != "Shapes" || len(d.Faults()) != 0 {
		t.Errorf("%+v, %v", n, d.Faults())
	}
	if n := name(openImages(t, path("all.r2r.dll"), path("Tiny.dll"))); n.Function != "" {
		t.Errorf("without its assembly: %+v", n)
	}
	data := testio.Read(t, path("Tiny.dll"))
	if err := x.Attach("Shapes", data); !errors.Is(err, r2r.ErrOther) || !strings.Contains(err.Error(), "Shapes") {
		t.Errorf("another assembly: %v", err)
	}
}
