// Same runs two builds of the tools side by side, the one before a change and the one after,
// and prints where they differ in standard output, errors, exit codes and files:
//
//	go build -o /tmp/new ./cmd/etw ./cmd/etwgen
//	go run ./tests/same -n 5 /tmp/old /tmp/new
//
// It tries every line of commands.txt with every recorded trace and every file of the corpus,
// or with the files that follow. That is tens of thousands of runs: -n takes a share of them,
// in percent, and -commands those of some commands. Changes that are meant stand in a file
// that -map names:
//
//	command disks = files --disks     what was disks is files --disks now
//	command keywords =                there is no such command any more
//	flag --max-size = --limit         the name of a flag, or of one of its values
//	output first_ms = firstMs         in both outputs, what matches is replaced
package main

import (
	"cmp"
	_ "embed"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

//go:embed commands.txt
var commands string

func main() {
	only := flag.String("commands", "", "try these commands alone, such as gc,top,list")
	share := flag.Float64("n", 100, "try this many percent of all")
	seed := flag.Uint64("seed", 1, "which share")
	largest := flag.Int64("largest", 1<<10, "leave out files of more than this many MB")
	parallel := flag.Int("j", 2, "run this many at once")
	most := flag.Int("top", 5, "print this many differences of a command")
	mapped := flag.String("map", "", "a file with the changes that are meant")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: same [flags] OLD-FOLDER NEW-FOLDER [FILE...]")
		os.Exit(2)
	}
	rules, err := readRules(*mapped)
	exitIf(err)
	files, err := find(flag.Args()[2:], *largest<<20)
	exitIf(err)
	old, err := newBuild(flag.Arg(0))
	exitIf(err)
	next, err := newBuild(flag.Arg(1))
	exitIf(err)

	all := linesOf(commands, files)
	random := rand.New(rand.NewPCG(*seed, 0))
	all = slices.DeleteFunc(all, func(l line) bool {
		drawn := random.Float64()*100 < *share
		return !drawn || *only != "" && !slices.Contains(strings.Split(*only, ","), l.command())
	})
	// The work is spread, so that the first output is a sample of all.
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	fmt.Fprintf(os.Stderr, "%d command lines\n", len(all))
	found := compareAll(all, old, next, rules, *parallel)
	if found.print(os.Stdout, *most) {
		os.Exit(1)
	}
}

// compareAll runs every line by both builds.
func compareAll(all []line, old, next *build, rules *rules, parallel int) *findings {
	found := &findings{commands: map[string]*command{}}
	work := make(chan line)
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for l := range work {
				now, ok := rules.translate(l)
				if !ok {
					found.gone(l)
					continue
				}
				found.add(l, differences(rules.clean(old.run(l)), rules.clean(next.run(now))))
			}
		})
	}
	for i, l := range all {
		if i > 0 && i%1000 == 0 {
			fmt.Fprintf(os.Stderr, "%d of %d\n", i, len(all))
		}
		work <- l
	}
	close(work)
	workers.Wait()
	return found
}

// find returns the files to try by their names in commands.txt: those that are given, or the
// recorded traces and the corpus.
func find(given []string, largest int64) (map[string][]string, error) {
	if len(given) == 0 {
		given = []string{"tests/recorded", cmp.Or(os.Getenv("ETWGEN_CORPUS"), "../shared/corpus")}
	}
	files := map[string][]string{}
	for _, root := range given {
		root, err := filepath.Abs(root)
		if err != nil {
			return nil, err
		}
		err = filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
			if err == nil && info.Mode().IsRegular() && info.Size() <= largest {
				if kind := kindOf(path); kind != "" {
					files[kind] = append(files[kind], path)
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

func kindOf(path string) string {
	name := strings.TrimSuffix(strings.ToLower(path), ".gz")
	switch filepath.Ext(name) {
	case ".etl", ".nettrace", ".netperf", ".zip", ".evtx", ".data", ".gcdump":
		return "TRACE"
	case ".man", ".xml":
		return "MANIFEST"
	case ".dll", ".exe":
		return "ASSEMBLY"
	}
	return ""
}

func exitIf(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "same:", err)
		os.Exit(2)
	}
}
