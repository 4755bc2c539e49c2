// Hostile throws damaged traces, manifests with names that nobody would choose,
// payloads of random templates and more at the project, and reports each promise
// that is broken. It is deterministic: an execution is repeated by its kind, seed
// and number.
//
//	go run ./tests/hostile -kind traces -n 100000 -seed 1
//	go run ./tests/hostile -kind traces -n 1 -seed 1 -from 4711 -save /tmp
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/etwgen/etwgen/tests/hostile/mutate"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

// errFound says that promises were broken. The report has which.
var errFound = errors.New("promises were broken")

// kinds are the kinds of tests.
var kinds = map[string]func(*campaign, config) error{
	"traces":    testTraces,
	"manifests": testManifests,
	"payloads":  testPayloads,
	"versions":  testVersions,
	"tool":      testTool,
	"code":      testCode,
	"decoders":  testDecoders,
	"forms":     testForms,
	"shapes":    testShapes,
	"receivers": testReceivers,
}

func run(args []string, out io.Writer) error {
	var cfg config
	flags := flag.NewFlagSet("hostile", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&cfg.kind, "kind", "traces", "what to test: traces, manifests, payloads, versions, tool, code, shapes, decoders, forms, receivers or all")
	flags.StringVar(&cfg.without, "without", "", "a kind that is left out of all")
	flags.IntVar(&cfg.n, "n", 10000, "number of executions of each kind, 0 for no limit")
	flags.Uint64Var(&cfg.seed, "seed", 1, "seed of the random numbers")
	flags.Uint64Var(&cfg.from, "from", 0, "number of the first execution")
	flags.Float64Var(&cfg.minutes, "minutes", 0, "stop after so many minutes, which kinds share")
	flags.StringVar(&cfg.save, "save", "", "folder to write the mutants of findings to")
	flags.StringVar(&cfg.corpus, "corpus", "", "folder with real traces and manifests, if there is one (default ETWGEN_CORPUS, or ../shared/corpus beside the module)")
	flags.Int64Var(&cfg.max, "max", 1<<20, "traces: the largest file, in bytes")
	flags.IntVar(&cfg.sweep, "sweep", 0, "in place of random mutations: of traces flip every bit of every header and put extreme numbers at each of its places; of traces and forms cut at so many places")
	flags.StringVar(&cfg.format, "format", "", "traces: only those of formats that begin so, such as .etl or .net")
	flags.StringVar(&cfg.mutation, "mutation", "", "traces: only the mutation of this name")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := cfg.find(); err != nil {
		return err
	}
	names := []string{cfg.kind}
	if cfg.kind == "all" {
		names = slices.DeleteFunc(slices.Sorted(maps.Keys(kinds)), func(name string) bool { return name == cfg.without })
	}
	var campaigns []*campaign
	for _, name := range names {
		test := kinds[name]
		if test == nil {
			return fmt.Errorf("there is no kind %q", name)
		}
		c := newCampaign(name, cfg.seed, cfg.n, out)
		c.from, c.save = cfg.from, cfg.save
		if cfg.minutes > 0 {
			c.until = time.Now().Add(time.Duration(cfg.minutes * float64(time.Minute) / float64(len(names))))
		}
		if err := test(c, cfg); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		c.end()
		campaigns = append(campaigns, c)
	}
	found := error(nil)
	for _, c := range campaigns {
		c.report()
		if len(c.findings) > 0 {
			found = errFound
		}
	}
	return found
}

// find finds the module and the corpus.
func (cfg *config) find() error {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	cfg.module = strings.TrimSpace(string(out))
	if cfg.corpus == "" {
		cfg.corpus = os.Getenv("ETWGEN_CORPUS")
	}
	if cfg.corpus == "" {
		cfg.corpus = filepath.Join(cfg.module, "..", "shared", "corpus")
	}
	return nil
}

// testTraces mutates the traces that are made here, those that the project has,
// and those of the corpus.
func testTraces(c *campaign, cfg config) error {
	files, err := mutate.Made()
	if err != nil {
		return err
	}
	for _, dir := range []string{filepath.Join(cfg.module, "tests", "recorded"), cfg.corpus} {
		list, err := mutate.Folder(dir, cfg.max)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		files = append(files, list...)
	}
	files = slices.DeleteFunc(files, func(f *mutate.Trace) bool {
		return int64(len(f.Data)) > cfg.max || !strings.HasPrefix(string(f.Format), cfg.format)
	})
	dir, err := os.MkdirTemp("", "hostile-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t, err := newTraces(c, files, dir)
	if err != nil {
		return err
	}
	if cfg.mutation != "" {
		m := mutate.Named(cfg.mutation)
		if m == nil {
			return fmt.Errorf("there is no mutation %q, but: %s", cfg.mutation, strings.Join(mutate.Names(), ", "))
		}
		t.mutations = []mutate.Mutation{*m}
	}
	for _, alarm := range t.alarms() {
		fmt.Fprintln(c.out, "not clean:", alarm)
	}
	c.start = time.Now()
	c.watch(5 * time.Minute)
	debug.SetGCPercent(800) // the executions are short
	if cfg.sweep > 0 {
		t.sweep(cfg.sweep)
	} else {
		c.run(t.one)
	}
	t.kept.write(c.out)
	fmt.Fprintln(c.out)
	return nil
}

// testManifests makes manifests, and damages those of the corpus.
func testManifests(c *campaign, cfg config) error {
	check, err := newChecker()
	if err != nil {
		return err
	}
	m := &manifests{campaign: c, check: check}
	err = filepath.WalkDir(filepath.Join(cfg.corpus, "manifests"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		const small = 24 << 10 // so that there are many executions
		if info, err := d.Info(); err != nil || info.Size() > small {
			return err
		}
		text, err := os.ReadFile(path)
		m.real = append(m.real, text)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	c.watch(5 * time.Minute)
	c.run(m.one)
	fmt.Fprintf(c.out, "%d manifests were refused, %d accepted; %d packages generated, %d with names that clash\n", m.refused, m.accepted, m.packages, m.clashes)
	return nil
}
