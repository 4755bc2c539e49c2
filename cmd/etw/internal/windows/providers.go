package windows

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/provider"
	"github.com/etwgen/etwgen/runtime/schema"
	"github.com/etwgen/etwgen/runtime/session"
)

// NewProviders returns the command that lists providers of Windows.
func NewProviders() *cobra.Command {
	var o show.Output
	var manifests []string
	cmd := &cobra.Command{
		Use:   "providers [flags] [NAME]",
		Short: "List the providers of Windows, and who has enabled them",
		Long: `Providers lists the providers of events that programs of this machine have registered,
with how many processes have each, and how many sessions take its events. With a name or
a GUID it lists the processes that have this one, and what each session takes of it.

It takes Windows.`,
		Example: `  etw providers
  etw providers clr
  etw providers Microsoft-Windows-Kernel-File --format json
  etw providers --format json | jq '.rows[] | select(.sessions > 0)'`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: pick.CompleteProviders,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Check(cmd); err != nil {
				return err
			}
			known, err := pick.ReadManifests(cmd, manifests)
			if err != nil {
				return err
			}
			list := func() (*show.Table, error) { return providerTable(known) }
			if len(args) > 0 {
				id, err := providerGUID(cmp.Or(builtin.Named(args[0]), args[0]), known)
				if err != nil {
					return &cli.UsageError{Err: err}
				}
				list = func() (*show.Table, error) {
					t, err := registrationTable(id)
					if err == nil && len(t.Rows) == 0 {
						fmt.Fprintf(cmd.ErrOrStderr(), "etw: no process has the provider %s {%v}, and no session wants it\n", cli.Clean(args[0]), id)
					}
					return t, err
				}
			}
			t, err := list()
			if err != nil {
				return err
			}
			p := o.Open(cmd, false)
			return p.Close(t.Write(p))
		},
	}
	pick.KnownFlag(cmd, &manifests)
	o.Flags(cmd)
	return cmd
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
	slices.SortFunc(list, func(a, b etw.GUID) int {
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
