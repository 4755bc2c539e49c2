package peers

import (
	"slices"
	"strings"
)

type peerLoader struct {
	Assemblies, Modules  []string
	Counts               map[string]int
	Methods, MethodBytes int
}

func compareLoader(s *sheet) {
	theirs := &s.theirs.Loader
	if len(theirs.Counts)+len(s.ours.Loader.Runtimes) == 0 {
		return
	}
	var assemblies, modules []string
	methods, bytes, loads, binds := 0, 0, 0, 0
	for _, rt := range s.ours.Loader.Runtimes {
		for _, a := range rt.Assemblies {
			assemblies = append(assemblies, a.Name)
			if _, ok := a.LoadedMS.Get(); ok {
				loads++
			}
		}
		for _, m := range rt.Modules {
			modules = append(modules, m.Path)
		}
		methods, bytes, binds = methods+rt.Methods, bytes+int(rt.MethodBytes), binds+len(rt.Binds)
	}
	s.equal("assemblies", names(assemblies), names(theirs.Assemblies))
	s.equal("modules", names(modules), names(theirs.Modules))
	s.equal("loads of assemblies", loads, theirs.Counts["Loader/AssemblyLoad"])
	s.equal("binds", binds, theirs.Counts["AssemblyLoader/Stop"])
	s.equal("methods", methods, theirs.Methods)
	s.equal("bytes of methods", bytes, theirs.MethodBytes)
}

// names lists names, each once, in order.
func names(list []string) string {
	list = slices.Clone(list)
	slices.Sort(list)
	return strings.Join(slices.Compact(list), "\n")
}
