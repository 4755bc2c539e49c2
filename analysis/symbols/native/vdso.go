package native

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/internal/quota"
)

// vdsoName is the mapping of the part of the kernel that runs in processes.
const vdsoName = "[vdso]"

// A vdso is a file of that part, and how much memory it takes.
type vdso struct {
	*codeFile
	size uint64
}

// vdso names a place in it by the file of that name, such as vdso64.so, that is as large as
// the mapping. Traces do not tell its build id.
func (d *Dir) vdso(n *symbols.Native) Source {
	if d.vdsos == nil {
		d.vdsos = []vdso{}
		for _, path := range d.others {
			if !strings.HasPrefix(filepath.Base(path), "vdso") {
				continue
			}
			v, err := openFile(path, func(f *os.File, size int64) (vdso, error) { return readVDSO(f, size, &d.unpack) })
			if err != nil {
				d.fault(path, err)
				continue
			}
			d.vdsos = append(d.vdsos, v)
		}
	}
	for _, v := range d.vdsos {
		if v.size != n.MapSize || !n.InFile {
			continue
		}
		if at, ok := v.address(n.Offset); ok && d.named(n, &v.table, at) {
			return FromELF
		}
	}
	return FromNothing
}

func readVDSO(f *os.File, size int64, unpack *quota.Quota) (vdso, error) {
	x, err := openELF(f, size)
	if err != nil {
		return vdso{}, err
	}
	c, err := readCode(x, unpack)
	if err != nil {
		return vdso{}, err
	}
	c.finish()
	const page = 0xfff
	return vdso{c, uint64(size+page) &^ page}, nil
}
