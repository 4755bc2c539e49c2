package system

import (
	"path"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A FileVersion is the contents of the version resource of an image.
type FileVersion struct {
	// Original is the name that the file had when it was built.
	Original string
	// Version is of the file, as text of its own; Number has the four numbers.
	Version, Number string
	Description     string
	Product         string
	Company         string
}

// A build identifies the file of an image by its header, wherever it is loaded: the events
// about versions name no address and no process.
type build struct {
	stamp uint32
	size  uint64
}

func (m *Machine) watchVersions(mux *etw.Mux) {
	hear.On(mux, func(_ *etw.Record, e *kernel.AnyImageIDFileVersion) {
		at := build{e.TimeDateStamp, uint64(e.ImageSize)}
		v := FileVersion{e.OrigFileName.String(), e.FileVersion.String(), e.BinFileVersion.String(), e.FileDescription.String(), e.ProductName.String(), e.CompanyName.String()}
		if !slices.Contains(m.versions[at], v) {
			m.versions[at] = append(m.versions[at], v)
		}
	})
}

// FileVersion returns the contents of the version resource of an image. Of several files with
// the same header it is that which had the image's name, or else the name that it had when it was
// built, and of those with another name none.
func (m *Machine) FileVersion(i *Image) (v FileVersion, ok bool) {
	at := i.named
	if at == (build{}) {
		at = build{i.TimeDateStamp, i.Size}
	}
	list := m.versions[at]
	if len(list) == 1 {
		return list[0], true
	}
	for _, name := range []string{i.Path, i.original} {
		name = path.Base(strings.ReplaceAll(name, `\`, "/"))
		n := 0
		for _, x := range list {
			if strings.EqualFold(x.Original, name) {
				v = x
				n++
			}
		}
		switch n {
		case 0:
		case 1:
			return v, true
		default:
			return FileVersion{}, false
		}
	}
	return v, false
}
