package windows

import (
	"cmp"
	"fmt"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/look"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/provider"
	"github.com/etwgen/etwgen/runtime/schema"
	"github.com/etwgen/etwgen/runtime/session"
)

// WithRegistered lets the command about known events be about the providers that programs of
// this machine have registered.
func WithRegistered(e *look.Events) *cobra.Command {
	asked, known := false, e.RunE
	e.Flags().BoolVar(&asked, "registered", false, "list the providers that are registered on this machine with Windows")
	e.RunE = func(cmd *cobra.Command, args []string) error {
		if !asked {
			return known(cmd, args)
		}
		if err := cmp.Or(e.Out.Check(cmd), cli.Args(0, 1)(cmd, args)); err != nil {
			return err
		}
		return listRegistered(cmd, e, args)
	}
	return e.Command
}

// listRegistered lists the providers, or who has one.
func listRegistered(cmd *cobra.Command, e *look.Events, args []string) error {
	known, err := pick.ReadManifests(cmd, e.Manifests)
	if err != nil {
		return err
	}
	var id etw.GUID
	if len(args) > 0 {
		if id, err = providerGUID(cmp.Or(builtin.Named(args[0]), args[0]), known); err != nil {
			return &cli.UsageError{Err: err}
		}
	}
	if runtime.GOOS != "windows" { // a constant: what follows is not linked there
		_, err := provider.Registered()
		return err
	}
	var t *show.Table
	if len(args) == 0 {
		t, err = providerTable(known)
	} else {
		t, err = registrationTable(id)
		if err == nil && len(t.Rows) == 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "etw: no process has the provider %s {%v}, and no session wants it\n", cli.Clean(args[0]), id)
		}
	}
	if err != nil {
		return err
	}
	p := e.Out.Open(cmd, false)
	return p.Close(t.Write(p))
}

// providerTable lists all providers.
func providerTable(known []*etw.Provider) (*show.Table, error) {
	list, err := provider.Registered()
	if err != nil {
		return nil, err
	}
	names := make(map[etw.GUID]string)
	for _, p := range append(pick.BuiltinProviders(), known...) {
		names[p.Desc.GUID] = p.Desc.Name
	}
	name := func(g etw.GUID) string { return cmp.Or(names[g], schema.ProviderName(g)) }
	order.Sort(list, func(a, b etw.GUID) int {
		return cmp.Or(cmp.Compare(name(a), name(b)), cmp.Compare(a.String(), b.String()))
	})
	t := show.NewTable(show.Word("provider"), show.Word("guid"), show.Num("processes"), show.Num("sessions"))
	for _, id := range list {
		instances, err := provider.Registrations(id)
		if err != nil { // it is gone, or not for everyone to see
			instances = nil
		}
		processes, sessions := 0, make(map[uint16]bool)
		for _, r := range instances {
			if r.ProcessID != 0 {
				processes++
			}
			for _, e := range r.Enabled {
				sessions[e.Session] = true
			}
		}
		t.Add(name(id), id.String(), strconv.Itoa(processes), strconv.Itoa(len(sessions)))
	}
	return t, nil
}

// registrationTable lists who has a provider, and who takes its events.
func registrationTable(id etw.GUID) (*show.Table, error) {
	list, err := provider.Registrations(id)
	if err != nil {
		return nil, err
	}
	names := make(map[uint16]string)
	if sessions, err := session.List(); err == nil {
		for _, s := range sessions {
			names[uint16(s.Handle)] = s.Name
		}
	}
	t := show.NewTable(show.Num("pid"), show.Word("session"), show.Word("level"), show.Column{Name: "any", Right: true}, show.Column{Name: "all", Right: true})
	for _, r := range list {
		pid := ""
		if r.ProcessID != 0 {
			pid = strconv.FormatUint(uint64(r.ProcessID), 10)
		}
		if len(r.Enabled) == 0 {
			t.Add(pid, "", "", "", "")
		}
		for _, e := range r.Enabled {
			t.Add(pid, cmp.Or(names[e.Session], fmt.Sprint("#", e.Session)), e.Level.String(), fmt.Sprintf("0x%x", e.Any), fmt.Sprintf("0x%x", e.All))
		}
	}
	return t, nil
}
