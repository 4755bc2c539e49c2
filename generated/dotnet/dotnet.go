package dotnet

import (
	"strings"
	"sync"

	"github.com/etwgen/etwgen/generated/dotnet/internal/table"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A source is one that is read when it is first asked for.
type source struct {
	table.Entry
	guid etw.GUID
	once sync.Once
	p    *etw.Provider
}

var (
	once    sync.Once
	sources []*source
)

// all returns the sources, and finds them in the table when it is first called: that
// costs nothing a program which needs none.
func all() []*source {
	once.Do(func() {
		for _, e := range table.Entries() {
			guid, err := etw.ParseGUID(e.GUID)
			if err != nil {
				panic(err) // the table is ours
			}
			sources = append(sources, &source{Entry: e, guid: guid})
		}
	})
	return sources
}

// provider returns the description of a source.
func (s *source) provider() *etw.Provider {
	s.once.Do(func() {
		read, err := s.Read()
		if err != nil {
			panic(err) // the table is ours
		}
		s.p = describe(read, s.guid)
	})
	return s.p
}

// A Source says which EventSource there is a description of.
type Source struct {
	Name    string
	GUID    etw.GUID
	Package string // the folder of its types, "" if there are none
}

// Sources returns all sources. It reads no more of them than that.
func Sources() []Source {
	var list []Source
	for _, s := range all() {
		list = append(list, Source{s.Name, s.guid, strings.TrimSuffix(s.Package, "-")})
	}
	return list
}

// Providers returns the descriptions of all sources. They have no types.
func Providers() []*etw.Provider {
	var list []*etw.Provider
	for _, s := range all() {
		list = append(list, s.provider())
	}
	return list
}

// Provider returns the description of the source of a name, in any case, or nil.
func Provider(name string) *etw.Provider {
	for _, s := range all() {
		if strings.EqualFold(s.Name, name) {
			return s.provider()
		}
	}
	return nil
}

// Of returns the description of the source that wrote a record, or nil: see
// [etw.Decoder.Find].
func Of(r *etw.Record) *etw.Provider {
	if r.Kind == etw.KindClassic {
		return nil
	}
	for _, s := range all() {
		if s.guid == r.Provider || strings.EqualFold(s.Name, r.ProviderName) {
			return s.provider()
		}
	}
	return nil
}
