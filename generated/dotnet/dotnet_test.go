package dotnet_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/generated/dotnet"
	"github.com/etwgen/etwgen/generated/dotnet/arraypool"
	"github.com/etwgen/etwgen/generated/dotnet/azurecore"
	"github.com/etwgen/etwgen/generated/dotnet/concurrent"
	"github.com/etwgen/etwgen/generated/dotnet/dataflow"
	"github.com/etwgen/etwgen/generated/dotnet/di"
	"github.com/etwgen/etwgen/generated/dotnet/diagnosticsource"
	"github.com/etwgen/etwgen/generated/dotnet/dns"
	"github.com/etwgen/etwgen/generated/dotnet/framework"
	"github.com/etwgen/etwgen/generated/dotnet/grpcclient"
	"github.com/etwgen/etwgen/generated/dotnet/grpcserver"
	"github.com/etwgen/etwgen/generated/dotnet/hosting"
	"github.com/etwgen/etwgen/generated/dotnet/http"
	"github.com/etwgen/etwgen/generated/dotnet/kestrel"
	"github.com/etwgen/etwgen/generated/dotnet/logging"
	"github.com/etwgen/etwgen/generated/dotnet/metrics"
	"github.com/etwgen/etwgen/generated/dotnet/msbuild"
	"github.com/etwgen/etwgen/generated/dotnet/parallel"
	"github.com/etwgen/etwgen/generated/dotnet/plinq"
	"github.com/etwgen/etwgen/generated/dotnet/recyclable"
	"github.com/etwgen/etwgen/generated/dotnet/signalr"
	"github.com/etwgen/etwgen/generated/dotnet/sockets"
	"github.com/etwgen/etwgen/generated/dotnet/sqlclient"
	"github.com/etwgen/etwgen/generated/dotnet/tasks"
	"github.com/etwgen/etwgen/generated/dotnet/tls"
	"github.com/etwgen/etwgen/generated/dotnet/yarp"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/etwtest"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A generatedPackage is the exports of a package of generated code.
type generatedPackage struct {
	*etw.Provider
	Types func() []etw.Event
}

// packages are those with types, by folder.
var packages = map[string]generatedPackage{
	"arraypool": {arraypool.Provider, arraypool.Types}, "azurecore": {azurecore.Provider, azurecore.Types},
	"concurrent": {concurrent.Provider, concurrent.Types}, "dataflow": {dataflow.Provider, dataflow.Types},
	"di": {di.Provider, di.Types}, "diagnosticsource": {diagnosticsource.Provider, diagnosticsource.Types},
	"dns": {dns.Provider, dns.Types}, "framework": {framework.Provider, framework.Types},
	"grpcclient": {grpcclient.Provider, grpcclient.Types}, "grpcserver": {grpcserver.Provider, grpcserver.Types},
	"hosting": {hosting.Provider, hosting.Types}, "http": {http.Provider, http.Types},
	"kestrel": {kestrel.Provider, kestrel.Types}, "logging": {logging.Provider, logging.Types},
	"metrics": {metrics.Provider, metrics.Types}, "msbuild": {msbuild.Provider, msbuild.Types},
	"parallel": {parallel.Provider, parallel.Types}, "plinq": {plinq.Provider, plinq.Types},
	"recyclable": {recyclable.Provider, recyclable.Types}, "signalr": {signalr.Provider, signalr.Types},
	"sockets": {sockets.Provider, sockets.Types}, "sqlclient": {sqlclient.Provider, sqlclient.Types},
	"tasks": {tasks.Provider, tasks.Types}, "tls": {tls.Provider, tls.Types},
	"yarp": {yarp.Provider, yarp.Types},
}

// TestPackages holds every package against its description in package dotnet: they are
// made of the same table, but by other code.
func TestPackages(t *testing.T) {
	manifests, err := filepath.Glob("*/*.man") // and that of counters, which are of no source
	if err != nil || len(manifests) != len(packages)+1 {
		t.Fatalf("%d manifests for %d packages, %v", len(manifests), len(packages), err)
	}
	for name, p := range packages {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(layouts(dotnet.Provider(p.Desc.Name)), layouts(p.Provider)); diff != "" {
				t.Errorf("of the table, of the package (-want +got):\n%s", diff)
			}
			etwtest.RoundTrip(t, p.Types()...)
			etwtest.Truncate(t, p.Types()...)
			etwtest.Clone(t, p.Types()...)
		})
	}
}

// layouts returns the layouts of a provider, as JSON: it is read more easily than pointers.
func layouts(p *etw.Provider) []string {
	var list []string
	for _, d := range p.Events {
		plain := *d
		plain.Provider, plain.Corrected = &etw.ProviderDesc{Name: d.Provider.Name, GUID: d.Provider.GUID}, false // types are right anyway
		text, err := json.Marshal(plain)
		if err != nil {
			return []string{err.Error()}
		}
		list = append(list, string(text))
	}
	for _, k := range p.Keywords {
		list = append(list, k.Name)
	}
	return list
}

// TestPacked: the table that programs have is the text.
func TestPacked(t *testing.T) {
	const path = "internal/table/sources.txt"
	if string(testio.Unpacked(t, path+".gz")) != string(testio.Read(t, path)) {
		t.Errorf("%s.gz is stale: go generate ./generated/dotnet", path)
	}
}

// TestPackageDoc holds the list of packages in the documentation against the folders.
func TestPackageDoc(t *testing.T) {
	page := testio.Read(t, "doc.go")
	for name, p := range packages {
		line := ""
		for l := range strings.Lines(string(page)) {
			if f := strings.Fields(l); len(f) > 2 && f[0] == "//" && f[1] == name {
				line = l
			}
		}
		if !strings.Contains(line, p.Desc.Name) {
			t.Errorf("the documentation says %q of package %s, which has %s", line, name, p.Desc.Name)
		}
	}
}

// sslProtocols is the one map of which .NET's manifest has nearly nothing: most values
// are no single bits, and bitMaps of EventSource leave them out.
const sslProtocols = "SslProtocols"

// TestManifests holds the descriptions against the manifests that .NET makes: ids,
// versions, names, levels, tasks, opcodes, keywords, layouts and names of values.
func TestManifests(t *testing.T) {
	ours := 0
	for _, path := range corpus.Glob(t, "eventsource", "*.man") {
		if strings.HasPrefix(filepath.Base(path), "Wire-") {
			continue // no source of .NET
		}
		m := testio.ParseFile(t, manifest.ParseFile, path, manifest.Options{})
		name := m.Providers[0].Name
		ours++
		got := dotnet.Provider(name)
		if got == nil {
			t.Errorf("%s is not known", name)
			continue
		}
		if got.Events[0].Named { // what the manifest says is wrong
			m = testio.ParseFile(t, manifest.ParseFile, path, manifest.Options{SelfDescribing: true})
		}
		want := m.Providers[0].Describe()
		want.Keywords = slices.DeleteFunc(want.Keywords, func(k etw.KeywordDesc) bool { return k.Mask&etw.SessionKeywords != 0 })
		if diff := cmp.Diff(facts(want), facts(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got.Desc.GUID != want.Desc.GUID {
			t.Errorf("%s has GUID %s, want %s", name, got.Desc.GUID, want.Desc.GUID)
		}
	}
	if ours < 40 {
		t.Errorf("%d sources", ours)
	}
	t.Logf("%d of %d manifests", ours, ours)
}

// facts returns a copy of a description with the compared facts. Events that write something
// else than their manifest declares are left out: the recordings decide.
func facts(p *etw.Provider) []etw.EventDesc {
	var list []etw.EventDesc
	for _, d := range p.Events {
		e := *d
		e.Provider, e.Message = nil, ""
		if wrong := dotnet.Provider(p.Desc.Name).Events; slices.ContainsFunc(wrong, func(w *etw.EventDesc) bool {
			return w.Corrected && w.ID == d.ID
		}) {
			e.Fields, e.Corrected = nil, false
		}
		e.Fields = slices.Clone(e.Fields)
		for i := range e.Fields {
			if m := e.Fields[i].Map; m != nil && m.Name == sslProtocols {
				e.Fields[i].Map = nil
			}
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b etw.EventDesc) int { return int(a.ID) - int(b.ID) })
	return list
}

// TestNames finds sources by their names, and only these.
func TestNames(t *testing.T) {
	if p := dotnet.Provider("system.net.http"); p == nil || p.Desc.GUID != http.Provider.Desc.GUID {
		t.Errorf("system.net.http is %v", p)
	}
	if p := dotnet.Provider("System.Net"); p != nil {
		t.Errorf("System.Net is %v", p.Desc)
	}
	for _, p := range dotnet.Providers() {
		r := etw.Record{Kind: etw.KindManifest, ProviderName: p.Desc.Name}
		if dotnet.Of(&r) != p {
			t.Errorf("%s is not found by its name", p.Desc.Name)
		}
		if r = (etw.Record{Kind: etw.KindManifest, Provider: p.Desc.GUID}); dotnet.Of(&r) != p {
			t.Errorf("%s is not found by its GUID", p.Desc.Name)
		}
	}
	if p := dotnet.Of(&etw.Record{Kind: etw.KindClassic, ProviderName: "System.Net.Http"}); p != nil {
		t.Errorf("a classic event is of %v", p.Desc)
	}
}
