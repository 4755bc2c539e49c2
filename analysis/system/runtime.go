package system

import (
	"cmp"
	"fmt"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/paths"
	"github.com/etwgen/etwgen/analysis/runtimes"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/windows/power"
	"github.com/etwgen/etwgen/runtime/etw"
)

// watchRuntimes takes the events of .NET runtimes about their processes.
func (m *Machine) watchRuntimes(mux *etw.Mux) {
	hear.On(mux, func(r *etw.Record, e *clr.RuntimeInformationStart) { m.tellRuntime(r, e) })
	hear.On(mux, func(r *etw.Record, e *rundown.RuntimeInformationDCStart) {
		m.tellRuntime(r, &clr.RuntimeInformationStart{Sku: clr.RuntimeSku(e.Sku),
			BclMajorVersion: e.BclMajorVersion, BclMinorVersion: e.BclMinorVersion, BclBuildNumber: e.BclBuildNumber, BclQfeNumber: e.BclQfeNumber,
			VMMajorVersion: e.VMMajorVersion, VMMinorVersion: e.VMMinorVersion, VMBuildNumber: e.VMBuildNumber, VMQfeNumber: e.VMQfeNumber,
			CommandLine: e.CommandLine, RuntimeDllPath: e.RuntimeDllPath})
	})
}

func (m *Machine) tellRuntime(r *etw.Record, e *clr.RuntimeInformationStart) {
	m.at(r)
	if r.ProcessID < 0 {
		return
	}
	p := m.processOf(r.ProcessID)
	p.Runtime = runtimes.NameOf(e.Sku.String(),
		version(e.BclMajorVersion, e.BclMinorVersion, e.BclBuildNumber, e.BclQfeNumber),
		version(e.VMMajorVersion, e.VMMinorVersion, e.VMBuildNumber, e.VMQfeNumber), e.RuntimeDllPath.String())
	p.command(e.CommandLine.String())
}

func version(a, b, c, d uint16) string { return fmt.Sprintf("%d.%d.%d.%d", a, b, c, d) }

// command takes a command line from which the name of the program follows if
// nothing else tells it.
func (p *Process) command(line string) {
	p.CommandLine = cmp.Or(p.CommandLine, line)
	p.Name = cmp.Or(p.Name, programOf(line))
}

// record takes a record that no handler does: that its process is there, and, where the
// trace itself describes it, the events of EventPipe about its process and of recorders of
// Linux about all.
func (m *Machine) record(r *etw.Record) error {
	if r.Provider == power.Provider.Desc.GUID {
		m.recordPower(r)
	}
	if r.ProcessID < 0 {
		return nil
	}
	if r.ProcessID != m.met || len(m.allProcesses) == 0 {
		m.at(r)
		m.processOf(r.ProcessID)
		m.met = r.ProcessID
	}
	switch {
	case r.Schema == nil:
	case r.ProviderName == linuxSystem || r.ProviderName == linuxEvents || isTracepoint(r.Schema):
		m.recordLinux(r)
	case r.Schema.Name == "ProcessInfo":
		if m.fields.Read(r) {
			m.at(r)
			p := m.processOf(r.ProcessID)
			p.OS, p.Architecture = m.fields.Text("OSInformation"), m.fields.Text("ArchInformation")
			p.command(m.fields.Text("CommandLine"))
		}
	}
	return nil
}

// programOf returns the name of the program of a command line.
func programOf(line string) string {
	for i, c := range line {
		switch {
		case i == 0 && c == '"':
			for j := 1; j < len(line); j++ {
				if line[j] == '"' {
					return paths.Base(line[1:j])
				}
			}
		case c == ' ':
			return paths.Base(line[:i])
		}
	}
	return paths.Base(line)
}
