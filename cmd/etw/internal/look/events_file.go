package look

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/manifest/load"
	"github.com/etwgen/etwgen/manifest/tlg"
	"github.com/etwgen/etwgen/manifest/wevt"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// isFile reports whether an argument is a file that there is.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// maxProgram bounds the size of a program whose events are listed.
const maxProgram = 1 << 30

// file lists the events of a manifest, a program or a library.
func (l *listing) file(path string) error {
	set, err := load.Providers(path)
	l.providers = set.Providers
	if err != nil && !errors.Is(err, wevt.ErrNoResource) {
		return fmt.Errorf("%w: it is neither a provider that is known nor a file that has events", err)
	}
	none := err != nil
	if info, err := os.Stat(path); err != nil || info.Size() > maxProgram {
		return &trace.Error{File: path, Err: errors.Join(err, errors.New("it is too large for a program"))}
	}
	data, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(data, []byte("MZ")) {
		return err
	}
	f, err := tlg.Read(data)
	switch {
	case errors.Is(err, tlg.ErrNone) && none:
		return &trace.Error{File: path, Err: fmt.Errorf("%w: it has no WEVT_TEMPLATE resource, either; of an assembly of .NET, etwgen list lists the EventSources", err)}
	case errors.Is(err, tlg.ErrNone):
		return nil
	case err != nil:
		return &trace.Error{File: path, Err: err}
	}
	l.oneOf = make(map[*etw.Provider][]string)
	for _, g := range f.Groups() {
		p := &etw.Provider{Desc: &etw.ProviderDesc{}}
		if len(g.Owners) == 1 {
			p.Desc.Name, p.Desc.GUID = g.Owners[0].Name, g.Owners[0].ID()
		} else {
			for _, o := range g.Owners {
				l.oneOf[p] = append(l.oneOf[p], o.Name)
			}
		}
		for _, e := range g.Events {
			p.Events = append(p.Events, e.Desc)
		}
		l.providers = append(l.providers, p)
	}
	if len(f.Damage) > 0 {
		l.damage = &trace.Error{File: path, Err: f.Damage[0]}
	}
	return nil
}

// title returns the name of a provider, or those of several.
func (l *listing) title(p *etw.Provider) string {
	if names := l.oneOf[p]; names != nil {
		return "one of " + strings.Join(names, ", ")
	}
	return p.Desc.Name
}

// heading returns the line above the events of a provider.
func (l *listing) heading(p *etw.Provider) string {
	if l.oneOf[p] != nil {
		return cli.Clean(l.title(p))
	}
	return fmt.Sprintf("%s {%s}", cli.Clean(p.Desc.Name), p.Desc.GUID)
}
