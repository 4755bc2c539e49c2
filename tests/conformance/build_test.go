package conformance

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/tests/corpus"
)

// varied are providers that between them have everything that manifests have.
var varied = []struct {
	pkg      string
	path     []string
	provider string
	lenient  bool
	sample   bool // tested also where only a sample is
}{
	{pkg: "advanced", path: []string{"handwritten", "AdvancedProvider.man"}, sample: true},                         // every type, count and length
	{pkg: "chakra", path: []string{"handwritten", "Microsoft-Scripting-Chakra-Instrumentation.man"}, sample: true}, // arrays of structs
	{pkg: "osrusb", path: []string{"handwritten", "osrusbfx2.man"}, sample: true},
	{pkg: "profiler", path: []string{"perfview", "ETWClrProfiler.man"}, lenient: true, sample: true}, // arrays of mapped values
	{pkg: "msquic", path: []string{"handwritten", "MsQuicEtw.man"}},                                  // socket addresses
	{pkg: "xdp", path: []string{"handwritten", "xdpetw.man"}, lenient: true},                         // levels of its own
	{pkg: "runtime", path: []string{"clr", "ClrEtwAll.latest-partial.man"}, provider: "Microsoft-Windows-DotNETRuntime"},
	{pkg: "rundown", path: []string{"clr", "ClrEtwAll.latest-partial.man"}, provider: "Microsoft-Windows-DotNETRuntimeRundown"},
	{pkg: "private", path: []string{"clr", "ClrEtwAll.latest-partial.man"}, provider: "Microsoft-Windows-DotNETRuntimePrivate"},
	{pkg: "kernel", path: []string{"perfview", "kerneltraceeventparser.man.xml"}, provider: "MSNT_SystemTrace", lenient: true}, // ids beyond 65535, shared symbols
	{pkg: "shellcore", path: []string{"win10-17134", "Microsoft-Windows-Shell-Core.xml"}, lenient: true},                       // 2,380 events
	{pkg: "partition", path: []string{"win10-17134", "Microsoft-Windows-Partition.xml"}, lenient: true},                        // 73 fields
	{pkg: "codeintegrity", path: []string{"win10-17134", "Microsoft-Windows-CodeIntegrity.xml"}, lenient: true},                // 13 versions
	{pkg: "msdtc", path: []string{"win10-17134", "Microsoft-Windows-MSDTC.xml"}, lenient: true},                                // ids with a version twice
	{pkg: "capi2", path: []string{"win10-17134", "Microsoft-Windows-CAPI2.xml"}, lenient: true},                                // fields 1 to 10
	{pkg: "ie", path: []string{"win10-17134", "Microsoft-IE.xml"}, lenient: true},                                              // _fBusy and fBusy
	{pkg: "mediafoundation", path: []string{"win10-17134", "Microsoft-Windows-MediaFoundation-Performance.xml"}, lenient: true},
	{pkg: "datetime", path: []string{"win10-17134", "Microsoft-Windows-DateTimeControlPanel.xml"}, lenient: true},
	{pkg: "kernelgeneral", path: []string{"win10-17134", "Microsoft-Windows-Kernel-General.xml"}, provider: "#2", lenient: true}, // one GUID, two providers
}

// TestBuild builds and vets packages and runs the tests that come with them: the
// real tools, in a module of its own, as a user has it.
func TestBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("builds packages")
	}
	dir := t.TempDir()
	packages, events := 0, 0
	for _, v := range varied {
		if !v.sample && !everything() {
			continue
		}
		m, _, err := manifest.ParseFile(corpus.File(t, append([]string{"manifests"}, v.path...)...), manifest.Options{Lenient: v.lenient})
		if err != nil {
			t.Errorf("%s: %v", v.pkg, err)
			continue
		}
		files, err := gen.Generate(m, gen.Options{Package: v.pkg, Provider: v.provider, Lenient: v.lenient, Tests: true})
		if err != nil {
			t.Errorf("%s: %v", v.pkg, err)
			continue
		}
		for _, f := range files {
			name := filepath.Join(dir, v.pkg, filepath.FromSlash(f.Name))
			testio.Write(t, name, f.Content)
		}
		p, err := gen.Select(m, v.provider)
		if err != nil {
			t.Fatal(err)
		}
		packages++
		events += len(p.Events)
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.GoVersion}}\n\nreplace {{.Path}} => {{.Dir}}").Output()
	if err != nil {
		t.Fatal("go list:", err)
	}
	mod := fmt.Sprintf("module varied\n\nrequire github.com/etwgen/etwgen v0.0.0\n\ngo %s", root)
	testio.Write(t, filepath.Join(dir, "go.mod"), mod)
	for _, args := range [][]string{{"vet", "./..."}, {"test", "./..."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPROXY=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		if args[0] == "test" {
			t.Logf("%d of %d packages with %d events pass their own tests", bytes.Count(out, []byte("ok  \t")), packages, events)
		}
	}
}
