package need

import "github.com/etwgen/etwgen/runtime/etw"

// guids are those of providers that do not follow from their names.
var guids = map[string]string{
	CLR:                                     "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4",
	"Microsoft-DotNETCore-SampleProfiler":   "3c530d44-97ae-513a-1e6d-783e8f8e03a9",
	"System.Threading.Tasks.TplEventSource": "2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5",
}

// Enable returns the need as [etw.Mux.Enablement] has it, if a provider of a .NET process
// brings the events by keywords and a level alone.
func (n *Need) Enable() (e etw.Enable, ok bool) {
	if n.Recorder != "" || n.Args != "" {
		return etw.Enable{}, false
	}
	return etw.Enable{Provider: &etw.ProviderDesc{Name: n.Provider, GUID: n.guid()}, Keywords: n.Keywords, Level: n.Level}, true
}

// guid returns the GUID of the provider.
func (n *Need) guid() etw.GUID {
	if text := guids[n.Provider]; text != "" {
		return etw.MustParseGUID(text)
	}
	return etw.NameGUID(n.Provider)
}

// Ask has [etw.Mux.Enablement] have needs for the handlers of an analysis, which takes all
// that there is, and are registered until the function which Ask returns is called.
func Ask(mux *etw.Mux, needs []Need) (end func()) {
	var list []etw.Enable
	for i := range needs {
		if e, ok := needs[i].Enable(); ok {
			list = append(list, e)
		}
	}
	return mux.AskFor(list...)
}
