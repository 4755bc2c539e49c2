package pick

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/runtimes"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A program is the description of one process in a trace.
type program struct {
	PID          int64      `json:"pid"`
	Name         string     `json:"name,omitempty"`
	CommandLine  string     `json:"commandLine,omitempty"`
	Runtime      string     `json:"runtime,omitempty"`
	RuntimeBuild string     `json:"runtime_build,omitempty"`
	RuntimePath  string     `json:"runtime_path,omitempty"`
	OS           string     `json:"os,omitempty"`
	Architecture string     `json:"architecture,omitempty"`
	Events       EventCount `json:"events"`
}

// An owner is one of the processes that had a number in turn.
type owner struct {
	pid  int64
	life int
}

// Programs collects facts about processes from events.
type Programs struct {
	Names *Names
	lives map[owner]*program
	tells []bool // by the index of the event, whether it says something
	last  *program
	turns int // that the names knew of then
}

// NewPrograms returns programs of which nothing is known yet.
func NewPrograms() *Programs {
	return &Programs{Names: NewNames(), lives: make(map[owner]*program)}
}

// Learn takes the facts of a record.
func (p *Programs) Learn(d *etw.Decoder, r *etw.Record, e *etw.EventInfo) {
	p.Names.Learn(d, r, e)
	x := p.last
	if x == nil || x.PID != r.ProcessID || p.turns != p.Names.turns {
		k := owner{r.ProcessID, p.Names.Life(r.ProcessID)}
		if x = p.lives[k]; x == nil {
			x = &program{PID: r.ProcessID}
			p.lives[k] = x
		}
		p.last, p.turns = x, p.Names.turns
	}
	x.Events++
	if e.Index == len(p.tells) {
		p.tells = append(p.tells, e.Name == "ProcessInfo" || strings.HasPrefix(e.Name, "RuntimeInformation"))
	}
	if !p.tells[e.Index] {
		return
	}
	values, _ := d.Decode(r)
	if values == nil {
		return
	}
	text := func(name string) string {
		v, _ := etw.Field(values, name)
		return v.String()
	}
	x.CommandLine = cmp.Or(x.CommandLine, text("CommandLine"))
	x.OS = cmp.Or(x.OS, text("OSInformation"))
	x.Architecture = cmp.Or(x.Architecture, text("ArchInformation"))
	x.RuntimePath = cmp.Or(x.RuntimePath, text("RuntimeDllPath"))
	if sku := text("Sku"); sku != "" && x.Runtime == "" {
		version := func(part string) string {
			return strings.Join([]string{text(part + "MajorVersion"), text(part + "MinorVersion"), text(part + "BuildNumber"), text(part + "QfeNumber")}, ".")
		}
		x.RuntimeBuild = version("VM")
		x.Runtime = runtimes.NameOf(sku, version("Bcl"), x.RuntimeBuild, text("RuntimeDllPath"))
	}
}

// Forget forgets how many events there are of each.
func (p *Programs) Forget() {
	for _, x := range p.lives {
		x.Events = Uncounted
	}
}

// List returns the processes, the one with most events first. Of one of which nothing but its number is
// known it has a row if no other had that number.
func (p *Programs) List() []*program {
	list, named, rest := []*program{}, make(map[int64]bool), make(map[int64]*program)
	for k, x := range p.lives {
		if x.Name = p.Names.OfLife(k.pid, k.life); x.Name != "" || x.CommandLine != "" || x.Runtime != "" {
			list, named[k.pid] = append(list, x), true
		}
	}
	for k, x := range p.lives {
		switch all := rest[k.pid]; {
		case k.pid <= 0 || named[k.pid]:
		case all == nil:
			all = &program{PID: k.pid, Events: x.Events}
			list, rest[k.pid] = append(list, all), all
		case x.Events != Uncounted:
			all.Events += x.Events
		}
	}
	order.Sort(list, func(a, b *program) int {
		return cmp.Or(cmp.Compare(b.Events, a.Events), cmp.Compare(a.PID, b.PID))
	})
	return list
}

// fewPrograms are so few that each is described in full.
const fewPrograms = 3

// Text prints the facts about the processes: of a few everything, of more a table, with most
// rows at most.
func (p *Programs) Text(out *show.Printer, line func(label, text string), most int) error {
	list := p.List()
	if len(list) <= fewPrograms {
		for _, x := range list {
			fmt.Fprintln(out)
			for _, f := range x.facts() {
				line(f.Key, f.Text)
			}
		}
		return nil
	}
	fmt.Fprintln(out)
	t := show.NewTable(show.Num("pid"), show.Num("events"), show.Word("name"), show.Word("runtime"), show.Word("commandLine"))
	shown := list[:min(len(list), most)]
	for _, x := range shown {
		t.Add(strconv.FormatInt(x.PID, 10), x.Events.String(), x.Name, x.Runtime, x.CommandLine)
	}
	if err := t.Write(out); err != nil || len(shown) == len(list) {
		return err
	}
	_, err := fmt.Fprintf(out, "%d of %d processes, those with most events; --format json has all\n", len(shown), len(list))
	return err
}

// facts returns the facts about x, for people.
func (x *program) facts() []trace.Fact {
	list := []trace.Fact{
		{Key: "process", Text: strings.TrimSpace(strconv.FormatInt(x.PID, 10) + " " + x.Name)},
		{Key: "command line", Text: x.CommandLine},
		{Key: "runtime", Text: x.Runtime},
		{Key: "runtime build", Text: x.RuntimeBuild},
		{Key: "runtime path", Text: x.RuntimePath},
		{Key: "os", Text: x.OS},
		{Key: "architecture", Text: x.Architecture},
		{Key: "events", Text: x.Events.String()},
	}
	return order.Delete(list, func(f trace.Fact) bool { return f.Text == "" })
}

// An EventCount is how many there are of something, or uncounted.
type EventCount int64

// String returns the number, or nothing where it is not known.
func (n EventCount) String() string {
	if n == Uncounted {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

const Uncounted EventCount = -1

// MarshalJSON returns the number or null.
func (n EventCount) MarshalJSON() ([]byte, error) {
	return []byte(cmp.Or(n.String(), "null")), nil
}
