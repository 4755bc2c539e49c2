package system

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Service is a service of Windows, as it was when the machine was described.
type Service struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	State string `json:"state,omitempty"` // such as Running; "" of old systems
	PID   ID     `json:"pid,omitzero"`    // of its process, if it has one
	Group string `json:"group,omitempty"` // of the services that may share a process
}

// runs reports whether the service was in a process.
func (s *Service) runs() bool { return s.PID > 0 }

// An Adapter is one of a network. Its addresses are texts, those of the hardware too.
type Adapter struct {
	Name     string   `json:"name"`
	Hardware string   `json:"hardware,omitempty"`
	IP       []string `json:"ip,omitempty"`
	DNS      []string `json:"dns,omitempty"`
}

// watchServices takes the events of the kernel that list services and adapters. Each file of a
// session may have such a list, of which the last one counts.
func (m *Machine) watchServices(mux *etw.Mux) {
	f := &m.facts
	services, adapters := make(map[string]int), make(map[string]int)
	hear.On(mux, func(_ *etw.Record, e *kernel.AnySystemConfigServices) {
		s := Service{Name: fixed(e.ServiceName), Title: fixed(e.DisplayName), PID: -1, Group: fixed(e.SvchostGroup)}
		if e.HasServiceState() {
			s.State = e.ServiceState.String()
		}
		if e.ProcessID != 0 {
			s.PID = ID(e.ProcessID)
		}
		if e.SubProcessTag != 0 {
			m.services[service{int64(e.ProcessID), e.SubProcessTag}] = s.Name
		}
		f.Services = put(f.Services, services, s.Name, s)
	})
	hear.On(mux, func(_ *etw.Record, e *kernel.AnySystemConfigNIC) {
		a := Adapter{Name: cmp.Or(fixed(e.NICDescription), fixed(e.NICName)), IP: listOf(e.IPAddresses), DNS: listOf(e.DNSServerAddresses)}
		for i := range min(e.PhysicalAddrLen, 8) {
			a.Hardware += fmt.Sprintf("%02x:", byte(e.PhysicalAddr>>(8*i)))
		}
		a.Hardware = strings.TrimSuffix(a.Hardware, ":")
		f.Adapters = put(f.Adapters, adapters, a.Name+" "+a.Hardware, a)
	})
}

// put adds a thing to a list, in place of the one with the same name.
func put[T any](list []T, at map[string]int, name string, x T) []T {
	if i, known := at[name]; known {
		list[i] = x
		return list
	}
	at[name] = len(list)
	return append(list, x)
}

// listOf returns the parts of a text that semicolons part.
func listOf(s etw.UTF16) []string {
	return strings.FieldsFunc(fixed(s), func(c rune) bool { return c == ';' })
}

// Running returns how many of the services were in a process.
func (f *Facts) Running() (n int) {
	for i := range f.Services {
		if f.Services[i].runs() {
			n++
		}
	}
	return n
}
