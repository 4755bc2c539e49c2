package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/internal/ecma335/ecma335test"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/google/go-cmp/cmp"
)

// etwgenRun runs etwgen.
func etwgenRun(args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	code = run(args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// TestImportAssembly imports an assembly and generates a package of it: the two
// commands that the page on EventSource classes shows.
func TestImportAssembly(t *testing.T) {
	dir := t.TempDir()
	dll := filepath.Join(dir, "Shop.dll")
	testio.Write(t, dll, ecma335test.Shop())
	code, text, notes := etwgenRun("import", dll)
	const note = "note: Shop.dll: class Shop.Orders: method set_Level is event 6 for .NET, but has no [Event] and writes none; it is left out: see --accidents\n"
	if code != 0 || notes != note {
		t.Errorf("exit code %d, stderr %q", code, notes)
	}
	m, warnings, err := manifest.Parse("Shop.man", []byte(text), manifest.Options{})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v %v", err, warnings)
	}
	if p := m.Providers[0]; p.Name != "Shop-Orders" || len(p.Events) != 6 || p.Events[2].Overridden == nil {
		t.Errorf("provider %s with %d events", p.Name, len(p.Events))
	}
	if code, _, notes := etwgenRun("import", "--accidents", dll); code != 0 || notes != "" {
		t.Errorf("--accidents: exit code %d, stderr %q", code, notes)
	}
	if code, _, notes := etwgenRun("import", "--class", "Absent", dll); code != 1 || !strings.Contains(notes, "no EventSource class named Absent") {
		t.Errorf("--class: exit code %d, stderr %q", code, notes)
	}

	out := filepath.Join(dir, "shop")
	if code, _, errs := etwgenRun("gen", "-o", out, dll); code != 0 {
		t.Fatalf("gen: exit code %d, %s", code, errs)
	}
	source := sourceIn(t, out)
	for _, want := range []string{"Weighed struct {\n\tGrams int64\n\tAt    int64\n}", "Price int32", "SizeLarge"} {
		if !strings.Contains(source, want) {
			t.Errorf("the package has no %q in\n%s", want, source)
		}
	}
}

// sourceIn returns the Go files of a folder as one text.
func sourceIn(t *testing.T, dir string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in %s", dir)
	}
	var source strings.Builder
	for _, path := range paths {
		text := testio.Read(t, path)
		source.Write(text)
	}
	return source.String()
}

// TestImportClasses imports the assemblies of the corpus, whose classes' manifests are
// those of .NET: both say the same, in strict mode, and make packages.
func TestImportClasses(t *testing.T) {
	f := testio.File(t, corpus.File(t, "eventsource", "index.tsv"))
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes = '\t', true
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	same, all := 0, 0
	for _, row := range rows[1:] {
		file, class, assembly, described := row[0], row[3], row[4], row[9] == "yes"
		path := filepath.Join(corpus.Dir(t), "assemblies", assembly)
		if _, err := os.Stat(path); err != nil || strings.HasPrefix(file, "Grpc") {
			continue // an enumeration of Grpc's is in an assembly that is not at hand
		}
		all++
		code, text, errs := etwgenRun("import", "--class", class, "--accidents", path)
		if code != 0 {
			t.Errorf("%s: exit code %d: %s", assembly, code, errs)
			continue
		}
		got, _, err := manifest.Parse(assembly, []byte(text), manifest.Options{})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		want, _, err := manifest.ParseFile(corpus.File(t, "eventsource", file), manifest.Options{SelfDescribing: described})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if diff := cmp.Diff(summary(want), summary(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", class, diff)
			continue
		}
		if _, err := gen.Generate(got, gen.Options{Package: "p"}); err != nil {
			t.Errorf("%s: %v", class, err)
			continue
		}
		same++
	}
	t.Logf("%d of %d imported classes say what the manifests of .NET do, and make packages", same, all)
}

// summary returns the contents of a manifest with one provider, but for payloads of events
// beyond their declaration.
func summary(m *manifest.Manifest) []string {
	p := m.Providers[0]
	lines := []string{p.Name + " " + p.GUID.String() + " " + p.Symbol}
	for _, e := range p.Events {
		line := e.Symbol + " " + e.Message
		if e.Task != nil {
			line += " " + e.Task.Name
		}
		template := e.Template
		if e.Overridden != nil {
			template = e.Overridden.Declared
		}
		if template != nil {
			for _, field := range template.Fields {
				line += ", " + field.Name + " " + field.Type.String()
				if field.Map != nil {
					line += " " + field.Map.Name
				}
			}
		}
		lines = append(lines, line)
	}
	for _, valueMap := range p.Maps {
		line := valueMap.Name
		for _, entry := range valueMap.Entries {
			line += ", " + entry.Message
		}
		lines = append(lines, line)
	}
	return lines
}

// TestFindAssemblies looks for assemblies in packages and runtimes.
func TestFindAssemblies(t *testing.T) {
	dir := t.TempDir()
	write := func(content string, elem ...string) {
		path := filepath.Join(append([]string{dir}, elem...)...)
		testio.Write(t, path, content)
	}
	t.Setenv("DOTNET_ROOT", filepath.Join(dir, "dotnet"))
	t.Setenv("NUGET_PACKAGES", filepath.Join(dir, "packages"))
	write("beside", "app", "Beside.dll")
	write("given", "given", "Given.dll")
	write("package", "packages", "some", "1.2.0", "lib", "net8.0", "Some.dll")
	write("secret", "Secret.dll")
	for _, version := range []string{"8.0.11", "8.0.9", "9.0.1"} {
		write(version, "dotnet", "shared", "Microsoft.NETCore.App", version, "Frame.dll")
	}
	write(`{"runtimeOptions":{"framework":{"name":"Microsoft.NETCore.App","version":"8.0.0"}}}`, "app", "App.runtimeconfig.json")
	write(`{"targets":{".NETCoreApp,Version=v8.0":{"Some/1.2.0":{"runtime":{"lib/net8.0/Some.dll":{}}},
		"Evil/1":{"runtime":{"../../Secret.dll":{}}}}},"libraries":{"Some/1.2.0":{"path":"some/1.2.0"}}}`, "app", "App.deps.json")

	s := newAssemblySearch(filepath.Join(dir, "app", "App.dll"), []string{filepath.Join(dir, "given")})
	for name, want := range map[string]string{
		"Beside": "beside", "Given": "given", "Some": "package", "some": "package", "Frame": "8.0.11",
		"Absent": "", "Secret": "", "../given/Given": "", "": "",
	} {
		if got := string(s.find(name)); got != want {
			t.Errorf("assembly %q is %q, want %q", name, got, want)
		}
	}
	s = newAssemblySearch(filepath.Join(dir, "given", "Given.dll"), nil)
	if got := string(s.find("Frame")); got != "9.0.1" {
		t.Errorf("without a version, a runtime's assembly is of %q, want the newest", got)
	}
}
