package system

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Tables returns the tables of a result: processes as a tree, threads, services, and states of power.
func (r *Result) Tables() []table.View {
	return []table.View{
		table.Of("process", "Processes", table.Refs(Tree(r.Processes)), append(TreeColumns(func(n *Node) *Node { return n }), processColumns()...)...),
		r.threads(),
		r.allServices(),
		r.states(),
	}
}

// TreeColumns say which process of a tree a row is of.
func TreeColumns[T any](of func(T) *Node) []table.Column[T] {
	return []table.Column[T]{
		table.ID("pid", func(x T) int64 { return of(x).Process.PID }),
		table.ID("parentPid", func(x T) ID { return of(x).Process.ParentPID }).Natural().Under("PARENT").IfAny(),
		table.Text("process", func(x T) string { return of(x).Process.Name }).For(table.Programs),
		table.Text("process", func(x T) string { return of(x).Label() }).For(table.People),
	}
}

// ExitCodes are the columns of the ends of processes: the number for programs, and for people the
// digits by which statuses of Windows are known, such as 0xc0000005. As numbers these are far
// below 0, while -1 is one that a program has chosen.
func ExitCodes[T any](of func(T) measure.Float) []table.Column[T] {
	return []table.Column[T]{
		table.Code("exitCode", of).IfAny().For(table.Programs),
		table.Text("exitCode", func(row T) string { return exitStatus(of(row)) }).IfAny().For(table.People),
	}
}

func exitStatus(code measure.Float) string {
	v, known := code.Get()
	switch {
	case !known:
		return ""
	case v < math.MinInt16 && v >= math.MinInt32 || v > math.MaxUint16 && v <= math.MaxUint32: // those of Windows, as 0x40010004
		return "0x" + strconv.FormatUint(uint64(uint32(int64(v))), 16)
	}
	return strconv.FormatInt(int64(v), 10)
}

func processColumns() []table.Column[*Node] {
	columns := []table.Column[*Node]{
		table.Moment("startMs", func(n *Node) measure.Float { return n.Process.StartMS }).IfAny(),
		table.Moment("endMs", func(n *Node) measure.Float { return n.Process.EndMS }).IfAny(),
	}
	columns = append(columns, ExitCodes(func(n *Node) measure.Float { return n.Process.ExitCode })...)
	return append(columns,
		table.Amount("sampledMs", func(n *Node) measure.Float { return n.Process.SampledMS }).IfAny(),
		table.Amount("ranMs", func(n *Node) measure.Float { return n.Process.RanMS }).IfAny(),
		table.Count("threads", func(n *Node) int { return n.Process.Threads }).IfAny(),
		table.Count("images", func(n *Node) int { return n.Process.Images }).IfAny(),
		table.Text("user", func(n *Node) string { return n.Process.User }).For(table.Programs),
		table.ID("session", func(n *Node) ID { return n.Process.Session }).Natural().For(table.Programs),
		table.Text("runtime", func(n *Node) string { return n.Process.Runtime }).IfAny(),
		table.Text("os", func(n *Node) string { return n.Process.OS }).For(table.Programs),
		table.Text("architecture", func(n *Node) string { return n.Process.Architecture }).For(table.Programs),
		table.Text("commandLine", func(n *Node) string { return n.Process.CommandLine }),
	)
}

// threads lists the threads that ran longest first.
func (r *Result) threads() table.View {
	list := table.Refs(r.Threads)
	order.Stable(list, func(a, b *ThreadFacts) int {
		return cmp.Or(cmp.Compare(b.RanMS.Or(0), a.RanMS.Or(0)), cmp.Compare(b.SampledMS.Or(0), a.SampledMS.Or(0)))
	})
	return table.Of("thread", "Threads", list,
		table.ID("pid", func(x *ThreadFacts) ID { return x.PID }).Natural(),
		table.Text("process", func(x *ThreadFacts) string { return x.Process }),
		table.ID("tid", func(x *ThreadFacts) int64 { return x.TID }),
		table.Text("name", func(x *ThreadFacts) string { return x.Name }).IfAny(),
		table.Text("service", func(x *ThreadFacts) string { return x.Service }).IfAny(),
		table.Moment("startMs", func(x *ThreadFacts) measure.Float { return x.StartMS }).IfAny(),
		table.Moment("endMs", func(x *ThreadFacts) measure.Float { return x.EndMS }).IfAny(),
		table.Amount("samples", func(x *ThreadFacts) measure.Float { return x.Samples }).To(0).IfAny(),
		table.Amount("sampledMs", func(x *ThreadFacts) measure.Float { return x.SampledMS }).IfAny(),
		table.Amount("switches", func(x *ThreadFacts) measure.Float { return x.Switches }).To(0).IfAny(),
		table.Amount("ranMs", func(x *ThreadFacts) measure.Float { return x.RanMS }).IfAny())
}

// Tables returns the tables of a result: images in processes, and files.
func (r *ImagesResult) Tables() []table.View {
	return []table.View{
		table.Of("image", "Images", table.Refs(r.Images),
			table.ID("pid", func(x *ImageFacts) int64 { return x.PID }),
			table.Text("process", func(x *ImageFacts) string { return x.Process }),
			table.Text("base", func(x *ImageFacts) string { return x.Base.String() }),
			table.Count("size", func(x *ImageFacts) uint64 { return x.Size }),
			table.Moment("loadMs", func(x *ImageFacts) measure.Float { return x.LoadMS }).IfAny(),
			table.Moment("unloadMs", func(x *ImageFacts) measure.Float { return x.UnloadMS }).IfAny(),
			table.Text("path", func(x *ImageFacts) string { return x.Path }),
			table.Text("fileVersion", func(x *ImageFacts) string { return x.FileVersion }).IfAny(),
			table.Text("company", func(x *ImageFacts) string { return x.Company }).For(table.Programs),
			table.Text("product", func(x *ImageFacts) string { return x.Product }).For(table.Programs),
			table.Text("description", func(x *ImageFacts) string { return x.Description }).For(table.Programs),
			table.Text("pdb", func(x *ImageFacts) string { return x.PDB }).IfAny(),
			table.Text("pdbGuid", func(x *ImageFacts) string {
				if x.PDBGUID == (etw.GUID{}) {
					return ""
				}
				return x.PDBGUID.String()
			}).For(table.Programs),
			table.Count("pdbAge", func(x *ImageFacts) uint32 { return x.PDBAge }).For(table.Programs),
			table.Text("buildId", func(x *ImageFacts) string { return x.BuildID }).IfAny(),
			table.Count("timeDateStamp", func(x *ImageFacts) uint32 { return x.TimeDateStamp }).For(table.Programs)),
		r.files(),
	}
}

// files sums up by file, those in most processes first. A file that another build replaced is two.
func (r *ImagesResult) files() table.View {
	type file struct {
		*ImageFacts
		processes map[int64]bool
		loads     int
	}
	var all []*file
	byPath := make(map[string][]*file)
	for i := range r.Images {
		image := &r.Images[i]
		path := strings.ToLower(image.Path)
		var f *file
		if n := slices.IndexFunc(byPath[path], func(f *file) bool { return f.maySame(image) }); n >= 0 {
			f = byPath[path][n]
		} else {
			f = &file{ImageFacts: image, processes: make(map[int64]bool)}
			byPath[path] = append(byPath[path], f)
			all = append(all, f)
		}
		if f.TimeDateStamp == 0 && f.BuildID == "" {
			f.ImageFacts = image
		}
		f.processes[image.PID] = true
		f.loads++
	}
	order.Stable(all, func(a, b *file) int {
		return cmp.Or(cmp.Compare(len(b.processes), len(a.processes)), cmp.Compare(a.Path, b.Path))
	})
	return table.Of("file", "Files", all,
		table.Count("processes", func(f *file) int { return len(f.processes) }),
		table.Count("images", func(f *file) int { return f.loads }),
		table.Count("size", func(f *file) uint64 { return f.Size }),
		table.Text("path", func(f *file) string { return f.Path }).About(),
		table.Text("fileVersion", func(f *file) string { return f.FileVersion }).IfAny(),
		table.Text("company", func(f *file) string { return f.Company }).IfAny(),
		table.Text("pdb", func(f *file) string { return f.PDB }).IfAny(),
		table.Text("buildId", func(f *file) string { return f.BuildID }).IfAny())
}

// maySame reports whether nothing says that two images are of different builds.
func (x *ImageFacts) maySame(other *ImageFacts) bool {
	return (x.TimeDateStamp == other.TimeDateStamp || x.TimeDateStamp == 0 || other.TimeDateStamp == 0) &&
		(x.BuildID == other.BuildID || x.BuildID == "" || other.BuildID == "")
}

// allServices lists all, those that ran first.
func (r *Result) allServices() table.View {
	names := make(map[ID]string)
	for i := range r.Processes {
		names[ID(r.Processes[i].PID)] = r.Processes[i].Name
	}
	list := table.Refs(r.Machine.Services)
	order.Stable(list, func(a, b *Service) int {
		return cmp.Or(-cmp.Compare(min(a.PID, 1), min(b.PID, 1)), strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)))
	})
	return table.Of("service", "Services", list,
		table.Text("service", func(s *Service) string { return s.Name }),
		table.Text("state", func(s *Service) string { return s.State }).IfAny(),
		table.ID("pid", func(s *Service) ID { return s.PID }).Natural(),
		table.Text("process", func(s *Service) string { return names[s.PID] }),
		table.Text("group", func(s *Service) string { return s.Group }).IfAny(),
		table.Text("title", func(s *Service) string { return s.Title }))
}

// states lists the states of power.
func (r *Result) states() table.View {
	return table.Of("power", "Power", table.Refs(r.Machine.Power),
		table.Text("state", func(p *PowerState) string { return p.State }),
		table.Moment("startMs", func(p *PowerState) measure.Float { return p.StartMS }),
		table.Moment("endMs", func(p *PowerState) measure.Float { return p.EndMS }),
		table.Amount("ms", func(p *PowerState) measure.Float { return p.MS }),
		table.Text("reason", func(p *PowerState) string { return p.Reason }).IfAny(),
		table.Amount("batteryPercent", func(p *PowerState) measure.Float { return p.BatteryPercent }).IfAny())
}
