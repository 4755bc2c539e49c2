package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A program is what a trace says of one process.
type program struct {
	PID          int64      `json:"pid"`
	Name         string     `json:"name,omitempty"`
	CommandLine  string     `json:"commandLine,omitempty"`
	Runtime      string     `json:"runtime,omitempty"`
	RuntimePath  string     `json:"runtime_path,omitempty"`
	OS           string     `json:"os,omitempty"`
	Architecture string     `json:"architecture,omitempty"`
	Events       eventCount `json:"events"`
}

// programs collects what events say of processes.
type programs struct {
	names *names
	byPID map[int64]*program
	tells []bool // by the index of the event, whether it says something
	last  *program
}

func newPrograms() *programs {
	return &programs{names: newNames(), byPID: make(map[int64]*program)}
}

// learn takes what a record says.
func (p *programs) learn(d *etw.Decoder, r *etw.Record, e *etw.EventInfo) {
	x := p.last
	if x == nil || x.PID != r.ProcessID {
		if x = p.byPID[r.ProcessID]; x == nil {
			x = &program{PID: r.ProcessID}
			p.byPID[r.ProcessID] = x
		}
		p.last = x
	}
	x.Events++
	p.names.learn(d, r, e)
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
		x.Runtime = runtimeOf(sku, text)
	}
}

// runtimeOf returns the name and version of a runtime. That of the class library
// is what people call the version of .NET, but for the .NET Framework.
func runtimeOf(sku string, text func(string) string) string {
	version := func(part string) string {
		return strings.Join([]string{text(part + "MajorVersion"), text(part + "MinorVersion"), text(part + "BuildNumber"), text(part + "QfeNumber")}, ".")
	}
	if sku == "DesktopClr" {
		return ".NET Framework " + version("VM")
	}
	return fmt.Sprintf("%s %s (VM %s)", sku, version("Bcl"), version("VM"))
}

// list returns the processes of which more is known than their number, the one
// with most events first.
func (p *programs) list() []*program {
	list := []*program{}
	for pid, x := range p.byPID {
		if x.Name = p.names.processes[pid]; x.Name != "" || x.CommandLine != "" || x.Runtime != "" {
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(a, b *program) int {
		return cmp.Or(cmp.Compare(b.Events, a.Events), cmp.Compare(a.PID, b.PID))
	})
	return list
}

// fewPrograms are so few that each is described in full.
const fewPrograms = 3

// text prints what is known of the processes: of a few everything, of more a
// table.
func (p *programs) text(out *printer, line func(label, text string)) error {
	list := p.list()
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
	t := newTable(num("pid"), num("events"), word("name"), word("runtime"), word("commandLine"))
	for _, x := range list {
		t.add(strconv.FormatInt(x.PID, 10), x.Events.String(), x.Name, x.Runtime, x.CommandLine)
	}
	return t.write(out)
}

// facts returns what is known of x, for people.
func (x *program) facts() []trace.Fact {
	list := []trace.Fact{
		{Key: "process", Text: strings.TrimSpace(strconv.FormatInt(x.PID, 10) + " " + x.Name)},
		{Key: "command line", Text: x.CommandLine},
		{Key: "runtime", Text: x.Runtime},
		{Key: "runtime path", Text: x.RuntimePath},
		{Key: "os", Text: x.OS},
		{Key: "architecture", Text: x.Architecture},
		{Key: "events", Text: x.Events.String()},
	}
	return slices.DeleteFunc(list, func(f trace.Fact) bool { return f.Text == "" })
}
