package ecma335_test

import (
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/internal/ecma335"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestAssemblies reads all there is in the assemblies of the corpus: every type has a
// name, every method a signature, and every instruction of its code exists.
func TestAssemblies(t *testing.T) {
	paths := append(corpus.Glob(t, "assemblies", "*.dll"), corpus.Glob(t, "r2r", "small", "*", "*.dll")...)
	types, methods, instructions, attributes := 0, 0, 0, 0
	for _, path := range paths {
		data := testio.Read(t, path)
		name := filepath.Base(path)
		f, err := ecma335.ParseImage(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		m, err := f.Metadata()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for row := uint32(1); row <= m.Rows(ecma335.TypeDef); row++ {
			types++
			if m.TypeName(ecma335.MakeToken(ecma335.TypeDef, row)) == "" {
				t.Errorf("%s: type %d has no name", name, row)
			}
			for method := range m.List(ecma335.TypeDef, row, ecma335.TypeDefMethods) {
				methods++
				if owner := m.Owner(ecma335.TypeDef, ecma335.TypeDefMethods, method); owner != row {
					t.Errorf("%s: method %d is of type %d, not of %d", name, method, owner, row)
				}
				instructions += checkMethod(t, name, f, m, method)
			}
		}
		for row := uint32(1); row <= m.Rows(ecma335.CustomAttribute); row++ {
			attributes++
			if m.Token(ecma335.CustomAttribute, row, 0) == 0 || m.Token(ecma335.CustomAttribute, row, 1) == 0 {
				t.Errorf("%s: attribute %d is of nothing", name, row)
			}
		}
	}
	t.Logf("%d assemblies: %d types, %d methods with %d instructions, %d attributes", len(paths), types, methods, instructions, attributes)
}

// checkMethod reads the signature and code of a method, and returns how many
// instructions it has.
func checkMethod(t *testing.T, file string, f *ecma335.Image, m *ecma335.Metadata, row uint32) int {
	t.Helper()
	method := m.Method(row)
	if _, ok := ecma335.MethodSignature(method.Signature); !ok {
		t.Errorf("%s: %s has no signature: %x", file, method.Name, method.Signature)
	}
	if method.RVA == 0 {
		return 0
	}
	body, ok := f.Body(method.RVA)
	if !ok {
		t.Errorf("%s: %s has no code at %#x", file, method.Name, method.RVA)
		return 0
	}
	n := 0
	for at := 0; at < len(body.Code); n++ {
		in, ok := body.Instruction(at)
		if !ok {
			t.Errorf("%s: %s has no instruction at %d: %x", file, method.Name, at, in.Op)
			break
		}
		at = in.Next
	}
	return n
}
