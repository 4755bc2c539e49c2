package linux

import (
	"debug/elf"
	"os"
	"path/filepath"
	"testing"
)

// TestELFSegments holds segments of the files of this machine against those that package
// debug/elf reads.
func TestELFSegments(t *testing.T) {
	files, _ := filepath.Glob("/usr/bin/*")
	libs, _ := filepath.Glob("/lib/x86_64-linux-gnu/*.so*")
	if self, err := os.Executable(); err == nil {
		files = append(files, self)
	}
	read := 0
	for _, path := range append(files, libs...) {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		want, err := elf.NewFile(f)
		if err == nil {
			read++
			_, got := elfSegments(f)
			if len(got) != len(want.Progs) {
				t.Errorf("%s: %d segments, want %d", path, len(got), len(want.Progs))
			}
			for i, s := range got {
				p := want.Progs[i].ProgHeader
				if want := (elfSegment{uint32(p.Type), uint32(p.Flags), p.Off, p.Vaddr, p.Filesz}); s != want {
					t.Errorf("%s: segment %d is %+v, want %+v", path, i, s, want)
				}
			}
		}
		f.Close()
	}
	if read == 0 {
		t.Skip("this machine has no ELF files")
	}
	t.Logf("%d files", read)
}
