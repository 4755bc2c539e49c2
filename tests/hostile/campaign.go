package main

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"sort"
	"sync/atomic"
	"time"
)

// A config is the flags.
type config struct {
	module     string // the folder of it
	kind       string
	without    string
	n          int
	seed, from uint64
	minutes    float64
	save       string
	corpus     string
	max        int64
	sweep      int
	format     string
	mutation   string
}

// A campaign is a run of many executions of one kind. Each has its own random
// numbers, from the seed and its number, so that any of them can be repeated
// alone.
type campaign struct {
	kind        string
	seed, from  uint64
	n           int       // executions to make
	until       time.Time // when to stop, if set
	save        string    // a folder for the mutants of findings, if set
	out         io.Writer
	start       time.Time
	took        time.Duration // once it has ended
	executions  int
	at          string // what is being executed
	mutant      []byte // and on what
	findings    map[string]*finding
	isOver      bool
	executionAt atomic.Int64 // when the execution began, in nanoseconds since 1970
}

// A finding is a promise that was broken.
type finding struct {
	class string
	count int
	first []string // where, of the first few
}

func newCampaign(kind string, seed uint64, n int, out io.Writer) *campaign {
	return &campaign{kind: kind, seed: seed, n: n, out: out, start: time.Now(), findings: make(map[string]*finding)}
}

// run makes the executions. A panic is a finding.
func (c *campaign) run(one func(*rand.Rand)) {
	for i := c.from; !c.over(); i++ {
		c.begin(fmt.Sprintf("execution %d", i), nil)
		c.guard(func() { one(rand.New(rand.NewPCG(c.seed, i))) })
	}
}

// blocks makes executions many at a time, for those that take less than it takes to begin one:
// a block has random numbers of its own, and returns how many there were.
func (c *campaign) blocks(block func(*rand.Rand) int) {
	for i := c.from; !c.over(); i++ {
		c.begin(fmt.Sprintf("block %d", i), nil)
		c.executions-- // it is the block's
		c.guard(func() { c.executions += block(rand.New(rand.NewPCG(c.seed, i))) })
	}
}

// begin begins an execution.
func (c *campaign) begin(at string, mutant []byte) {
	c.executions++
	c.at, c.mutant = at, mutant
	c.executionAt.Store(time.Now().UnixNano())
}

// over reports whether enough was executed.
func (c *campaign) over() bool {
	if c.n > 0 && c.executions >= c.n {
		return true
	}
	if !c.until.IsZero() && c.executions%64 == 0 { // also after a block, which is of so many
		c.isOver = time.Now().After(c.until)
	}
	return c.isOver
}

// guard calls f and turns a panic into a finding.
func (c *campaign) guard(f func()) {
	defer func() {
		if e := recover(); e != nil {
			c.find("panic", "%v\n%s", e, debug.Stack())
		}
	}()
	f()
}

// find notes a broken promise.
func (c *campaign) find(class, format string, args ...any) {
	f := c.findings[class]
	if f == nil {
		f = &finding{class: class}
		c.findings[class] = f
	}
	f.count++
	const few = 4
	if f.count > few {
		return
	}
	f.first = append(f.first, c.at+": "+short(fmt.Sprintf(format, args...)))
	if c.save != "" && c.mutant != nil {
		name := filepath.Join(c.save, fmt.Sprintf("%s-%s-%d-%d", c.kind, class, c.seed, f.count))
		if err := os.WriteFile(name, c.mutant, 0o666); err != nil {
			fmt.Fprintln(c.out, err)
		}
	}
}

// short cuts the middle out of a long text.
func short(s string) string {
	const most = 2000
	if len(s) <= most {
		return s
	}
	return s[:most/2] + " ... " + s[len(s)-most/2:]
}

// watch ends the program if an execution takes longer than any should, which is
// the last resort: most loops show in the work that they do.
func (c *campaign) watch(limit time.Duration) {
	c.executionAt.Store(time.Now().UnixNano())
	go func() {
		for range time.Tick(time.Second) {
			began := c.executionAt.Load()
			if began == ended {
				return
			}
			if time.Since(time.Unix(0, began)) > limit {
				debug.SetTraceback("all")
				panic(fmt.Sprintf("hang: kind %s, seed %d, %s", c.kind, c.seed, c.at))
			}
		}
	}()
}

// ended stands for the begin of an execution when there are no more.
const ended = 0

// end ends a campaign: nobody waits for its executions any more.
func (c *campaign) end() {
	c.took = time.Since(c.start)
	c.executionAt.Store(ended)
}

// report writes how many executions there were and the findings.
func (c *campaign) report() {
	took := cmp.Or(c.took, time.Since(c.start))
	fmt.Fprintf(c.out, "%s: %d executions, seed %d, from %d, %v, %.0f per second\n", c.kind, c.executions, c.seed, c.from,
		took.Round(time.Second), float64(c.executions)/took.Seconds())
	classes := make([]string, 0, len(c.findings))
	for class := range c.findings {
		classes = append(classes, class)
	}
	sort.Strings(classes)
	for _, class := range classes {
		f := c.findings[class]
		fmt.Fprintf(c.out, "FOUND %s: %d times\n", class, f.count)
		for _, first := range f.first {
			fmt.Fprintln(c.out, "\t"+first)
		}
	}
}
