package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newImages returns the command that shows images.
func newImages() *question {
	return &question{
		name:  "images",
		short: "Show the programs and libraries in processes, and their symbols",
		long: `Images shows the programs and libraries that were loaded in each process, where they
lay and when, and what identifies them and their symbols. Those of the kernel, which
all processes share, are those of process 0.

The rows are images in processes, or files by --by file.`,
		example: `  etw images machine.etl
  etw images --by file --top 10 machine.etl
  etw images --process app.exe --format csv machine.etl
  etw images --format json machine.etl | jq -r '.images[].path'`,
		views:   []string{"image", "file"},
		missing: "the trace tells of no images; how to record one that does, etw record-help wpr says",
		ask:     func(mux *etw.Mux) answer { return &imagesAnswer{machine: newMachine(mux)} },
	}
}

type imagesAnswer struct {
	machine
	res *system.ImagesResult
}

func (a *imagesAnswer) take() bool {
	a.res = a.ImagesResult()
	a.res.Images = slices.DeleteFunc(a.res.Images, func(i system.ImageFacts) bool { return !a.chosen.Has(i.PID) })
	return len(a.res.Images) > 0
}

func (a *imagesAnswer) result() any { return a.res }
func (a *imagesAnswer) warnings() []string {
	return append(a.doubts(), noPaths(a.res.Unresolved)...)
}
func (a *imagesAnswer) totals(p *page) {
	kernel := 0
	for i := range a.res.Images {
		if a.res.Images[i].Process == system.KernelName {
			kernel++
		}
	}
	text := count(len(a.res.Images), "image", "images")
	if kernel > 0 {
		text += fmt.Sprintf(", %d of them of the kernel", kernel)
	}
	fmt.Fprintln(p, text)
}

func (a *imagesAnswer) table(view string, _ *names) *table {
	if view == "file" {
		return a.files()
	}
	t := newTable(idColumn("pid"), label("process"), label("base"), counted("size"), moment("loadMs"), moment("unloadMs"), label("path"),
		label("pdb"), label("pdbGuid").forPrograms(), counted("pdbAge").forPrograms(), label("buildId"), counted("timeDateStamp").forPrograms())
	for _, i := range a.res.Images {
		guid := ""
		if i.PDBGUID != (etw.GUID{}) {
			guid = i.PDBGUID.String()
		}
		t.add(whole(i.PID), i.Process, i.Base.String(), whole(i.Size), maybe(i.LoadMS), maybe(i.UnloadMS), i.Path,
			i.PDB, guid, whole(i.PDBAge), i.BuildID, whole(i.TimeDateStamp))
	}
	return t.unlessEmpty("loadMs", "unloadMs", "pdb", "buildId")
}

// files returns a row for each file.
func (a *imagesAnswer) files() *table {
	type file struct {
		*system.ImageFacts
		processes map[int64]bool
		loads     int
	}
	var all []*file
	byPath := make(map[string]*file)
	for i := range a.res.Images {
		image := &a.res.Images[i]
		f := byPath[strings.ToLower(image.Path)]
		if f == nil {
			f = &file{ImageFacts: image, processes: make(map[int64]bool)}
			byPath[strings.ToLower(image.Path)] = f
			all = append(all, f)
		}
		f.processes[image.PID] = true
		f.loads++
	}
	slices.SortStableFunc(all, func(a, b *file) int {
		return cmp.Or(cmp.Compare(len(b.processes), len(a.processes)), cmp.Compare(a.Path, b.Path))
	})
	t := newTable(counted("processes"), counted("images"), counted("size"), label("path"), label("pdb"), label("buildId"))
	for _, f := range all {
		t.add(whole(len(f.processes)), whole(f.loads), whole(f.Size), f.Path, f.PDB, f.BuildID)
	}
	return t.unlessEmpty("pdb", "buildId")
}
