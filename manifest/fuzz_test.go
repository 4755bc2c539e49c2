package manifest

import (
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// FuzzParse checks that no input makes the parser panic, that it returns either
// a manifest or errors with places in the file, and that lenient mode accepts
// whatever strict mode does.
func FuzzParse(f *testing.F) {
	f.Add([]byte(inProvider("")))
	for _, h := range hostile {
		f.Add([]byte(h.make(200)))
	}
	files := testio.Glob(f, "testdata/*.man")
	for _, file := range files {
		data := testio.Read(f, file)
		f.Add(data)
	}
	for _, content := range []string{
		`<templates><template tid="T"><data name="N" inType="win:UInt8"/><struct name="S" count="N"><data name="A" inType="win:Binary" length="N"/></struct></template></templates>`,
		`<tasks><task name="a:T" value="1"><opcodes><opcode name="O" value="2"/></opcodes></task></tasks><events><event value="1" task="a:T" opcode="O" keywords="w:X"/></events>`,
	} {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !strings.Contains(string(data), rootTag) {
			data = []byte(inProvider(string(data)))
		}
		lines := strings.Count(string(data), "\n") + 1
		strict, strictWarnings, strictErr := Parse("f", data, Options{Notes: true})
		lenient, lenientWarnings, lenientErr := Parse("f", data, Options{Lenient: true})
		if (strict == nil) != (strictErr != nil) || (lenient == nil) != (lenientErr != nil) {
			t.Fatalf("manifests %v, %v with errors %v, %v", strict, lenient, strictErr, lenientErr)
		}
		if strictErr == nil && lenientErr != nil {
			t.Fatalf("only lenient mode refuses: %v", lenientErr)
		}
		for _, list := range []any{strictErr, ErrorList(strictWarnings), lenientErr, ErrorList(lenientWarnings)} {
			list, _ := list.(ErrorList)
			for i, e := range list {
				if e.Pos.File != "f" || e.Pos.Line < 1 || e.Pos.Line > lines || e.Pos.Col < 1 || e.Msg == "" {
					t.Fatalf("diagnostic %+v", e)
				}
				if i > 0 && e.Pos.compare(list[i-1].Pos) < 0 {
					t.Fatalf("%v after %v", e, list[i-1])
				}
			}
		}
		for _, m := range []*Manifest{strict, lenient} {
			if m == nil {
				continue
			}
			for _, p := range m.Providers {
				for _, tmpl := range p.Templates {
					for _, size := range []etw.PtrSize{etw.Ptr32, etw.Ptr64} {
						if n, _ := tmpl.Size(size); n < 0 || n > 1<<18 {
							t.Fatalf("template %s has size %d", tmpl.ID, n)
						}
					}
				}
			}
		}
	})
}
