package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/etwgen/etwgen/manifest/eventsource"
	"github.com/spf13/cobra"
)

// assemblyOptions say how to import an assembly of .NET.
type assemblyOptions struct {
	class          string
	selfDescribing bool
	accidents      bool
	folders        []string
}

func (o *assemblyOptions) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.class, "class", "", "of an assembly, the EventSource `class` to import; all by default")
	flags.BoolVar(&o.selfDescribing, "self-describing", false, "the EventSource describes its own events, where its code does not tell")
	flags.BoolVar(&o.accidents, "accidents", false, "keep methods without [Event] that .NET takes for events, though they write none")
	flags.StringArrayVar(&o.folders, "reference", nil, "look for other assemblies in this `folder`, too (repeatable)")
}

// importAssembly imports the EventSource classes of an assembly. It returns nil if
// there are none: with an error if it is an assembly, and without one if it is not.
func importAssembly(path string, data []byte, opts importOptions) (*imported, error) {
	if !eventsource.IsAssembly(data) {
		return nil, nil
	}
	search := newAssemblySearch(path, opts.assembly.folders)
	base := filepath.Base(path)
	sources, err := eventsource.Read(base, data, eventsource.Options{
		Find: search.find, Class: opts.assembly.class, Name: opts.provider,
		SelfDescribing: opts.assembly.selfDescribing, Accidents: opts.assembly.accidents,
	})
	switch {
	case errors.Is(err, eventsource.ErrNoSource) && opts.assembly.class != "":
		return nil, fmt.Errorf("%w named %s", err, opts.assembly.class)
	case err != nil:
		return nil, err
	case opts.provider != "" && len(sources) > 1:
		return nil, fmt.Errorf("it has %d EventSource classes, and --name is for one; choose it with --class", len(sources))
	}
	in := &imported{}
	alive := in.judge(sources)
	if len(alive) == 0 {
		return nil, errors.New(in.faults[0])
	}
	for _, list := range [][]string{in.faults, in.notes} {
		for i := range list {
			list[i] = base + ": " + list[i]
		}
	}
	in.xml = eventsource.AppendXML(nil, madeOfClasses(base, alive), alive...)
	return in, nil
}

// madeOfClasses returns the comment of a manifest of classes.
func madeOfClasses(file string, sources []*eventsource.Source) string {
	comment := "Made of the code of " + file + "."
	for _, s := range sources {
		comment += fmt.Sprintf("\n     %s is class %s.", s.Name, s.Class)
	}
	return comment
}

// judge reports faults of classes, and returns those of which a manifest can be made.
func (i *imported) judge(sources []*eventsource.Source) []*eventsource.Source {
	var alive []*eventsource.Source
	classes := make(map[string]string) // by GUID
	for _, s := range sources {
		fault := func(format string, args ...any) {
			i.faults = append(i.faults, "class "+s.Class+": "+fmt.Sprintf(format, args...))
		}
		guid := s.GUID.String()
		switch {
		case s.Dead != "" && s.SelfDescribing:
			fault("no manifest can describe its events: %s", s.Dead)
			continue
		case s.Dead != "":
			fault("it writes nothing, since .NET refuses it at run time: %s", s.Dead)
			continue
		case classes[guid] != "":
			fault("it is left out, since it has the name or GUID of class %s; import it alone with --class", classes[guid])
			continue
		}
		classes[guid] = s.Class
		alive = append(alive, s)
		for _, w := range s.Warnings {
			fault("%s", w)
		}
		for _, n := range s.Notes {
			i.notes = append(i.notes, fmt.Sprintf("class %s: %s", s.Class, n))
		}
		if n := len(s.Complaints); n > 0 {
			first := strings.Join(strings.Fields(s.Complaints[0]), " ")
			i.notes = append(i.notes, fmt.Sprintf("class %s: the strict check of .NET complains %s: %s", s.Class, times(n), first))
		}
	}
	return alive
}

// times says how often something is, of which the first follows.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times, the first", n)
}
