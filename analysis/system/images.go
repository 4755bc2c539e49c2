package system

import (
	"cmp"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An ImagesResult is the images of all processes.
type ImagesResult struct {
	Schema int          `json:"schema"`
	Images []ImageFacts `json:"images"`
	// Unresolved counts events whose process the trace does not tell.
	Unresolved Unresolved `json:"unresolved"`
}

// ImageFacts are the facts about an image in a process.
type ImageFacts struct {
	// PID is 0 for images of the kernel.
	PID     int64  `json:"pid"`
	Process string `json:"process,omitempty"`
	// Base is an address, which JSON has as a text in hexadecimal.
	Base etw.Pointer `json:"base"`
	Size uint64      `json:"size"` // bytes; 0 if it is unknown
	// Path has the letter of a drive if the trace tells it.
	Path string `json:"path,omitempty"`
	// LoadMS and UnloadMS are unknown if the recording has not seen them.
	LoadMS        measure.Float `json:"loadMs,omitzero"`
	UnloadMS      measure.Float `json:"unloadMs,omitzero"`
	TimeDateStamp uint32        `json:"timeDateStamp,omitempty"`
	Checksum      uint32        `json:"checksum,omitempty"`
	BuildID       string        `json:"buildId,omitempty"`
	PDB           string        `json:"pdb,omitempty"`
	PDBGUID       etw.GUID      `json:"pdbGuid,omitzero"`
	PDBAge        uint32        `json:"pdbAge,omitempty"`
	// FileVersion to Company are of the file's version resource.
	FileVersion string `json:"fileVersion,omitempty"`
	Description string `json:"description,omitempty"`
	Product     string `json:"product,omitempty"`
	Company     string `json:"company,omitempty"`
}

// KernelName is the kernel's name among processes.
const KernelName = "(kernel)"

// ImagesResult returns the images that are known so far, by process and base. It
// shares no memory that changes with m.
func (m *Machine) ImagesResult() *ImagesResult {
	r := &ImagesResult{Schema: Schema, Images: []ImageFacts{}, Unresolved: m.Unresolved()}
	r.add(m, 0, KernelName, &m.kernel)
	for _, p := range m.allProcesses {
		r.add(m, p.PID, p.Name, &p.Images)
	}
	order.Stable(r.Images, func(a, b ImageFacts) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Base, b.Base), cmp.Compare(a.LoadMS.Or(-1), b.LoadMS.Or(-1)))
	})
	return r
}

func (r *ImagesResult) add(m *Machine, pid int64, process string, s *Images) {
	for _, i := range s.all {
		f := ImageFacts{PID: pid, Process: process, Base: etw.Pointer(i.Base), Size: i.Size, Path: m.Path(i.Path), TimeDateStamp: i.TimeDateStamp,
			Checksum: i.Checksum, BuildID: i.BuildID, PDB: i.PDB.Name, PDBGUID: i.PDB.GUID, PDBAge: i.PDB.Age}
		if v, ok := m.FileVersion(i); ok {
			f.FileVersion, f.Description, f.Product, f.Company = cmp.Or(v.Number, v.Version), v.Description, v.Product, v.Company
		}
		f.LoadMS, f.UnloadMS = m.Span(&i.Lifetime)
		r.Images = append(r.Images, f)
	}
}
