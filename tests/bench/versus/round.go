package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// times are the best seconds of one round, by contestant and task.
type times map[string]float64

// A comparison is of the times of two, or has ours alone.
type comparison struct{ name, other, ours string }

var comparisons = []comparison{
	{"TraceEvent, every event by time", "TraceEvent b all events", "ours b all events"},
	{"TraceEvent, typed handlers", "TraceEvent c clr typed", "ours c clr typed"},
	{"TraceEvent, GC and JIT analysis", "TraceEvent e runtime analysis", "ours e runtime analysis"},
	{"TraceEvent, process of gc", "TraceEvent process gc", "ours process gc"},
	{"TraceEvent, process of call stacks", "TraceEvent process stacks", "ours process stacks"},
	{"bound, headers", "bound headers", "ours order of the file"},
	{"bound, by time", "bound merged", "ours b all events"},
	{"ours, order of the file to time", "ours order of the file", "ours b all events"},
	{"bound of .etl, by time", "bound etl", "ours etl records alone"},
	{"bound of .etl, with schemas", "bound etl", "ours b all events"},
	{"process of --version", "", "ours process --version"},
	{"process of info", "", "ours process info"},
	{"process of stat", "", "ours process stat"},
	{"process of dump --format jsonl", "", "ours process dump"},
	{"process of report", "", "ours process report"},
}

// print prints the ratio of the two, the median of the rounds, unless one of them
// was not there. Ours alone come with their spread.
func (c comparison) print(out io.Writer, file string, rounds []times) {
	var ratios, other, ours []float64
	for _, t := range rounds {
		if t[c.ours] > 0 && (t[c.other] > 0 || c.other == "") {
			ratios = append(ratios, t[c.other]/t[c.ours])
			other, ours = append(other, 1e3*t[c.other]), append(ours, 1e3*t[c.ours])
		}
	}
	switch {
	case len(ratios) == 0:
		return
	case c.other == "":
		fmt.Fprintf(out, "%-32s %-34s %10s %10.3f %8s  %.3f to %.3f\n",
			file, c.name, "", median(ours), "", slices.Min(ours), slices.Max(ours))
		return
	}
	fmt.Fprintf(out, "%-32s %-34s %10.3f %10.3f %8.2f  %.2f to %.2f\n",
		file, c.name, median(other), median(ours), median(ratios), slices.Min(ratios), slices.Max(ratios))
}

func median(list []float64) float64 {
	return slices.Sorted(slices.Values(list))[len(list)/2]
}

// A cast is who reads: programs by their paths, "" for those that are not there.
type cast struct{ self, traceEvent, bound, boundETL, etw string }

// absent returns a line for each program that is not there.
func (c *cast) absent() (lines []string) {
	for _, p := range []struct{ flag, path, what string }{
		{"-traceevent", c.traceEvent, "TraceEvent"},
		{"-bound", c.bound, "the bound of .nettrace"},
		{"-boundetl", c.boundETL, "the bound of .etl"},
		{"-etw", c.etw, "whole processes"},
	} {
		if p.path == "" {
			lines = append(lines, "not held against "+p.what+": no "+p.flag)
		}
	}
	return lines
}

// round has each program read a file that can.
func (c *cast) round(file string, n int) (times, error) {
	t := times{}
	count := strconv.Itoa(n)
	out, err := output(c.self, "-measure", file, "-n", count)
	if err != nil {
		return nil, err
	}
	t.addWays("ours", out)
	if c.etw != "" {
		for _, args := range [][]string{{"--version"}, {"info", file}, {"stat", file}, {"dump", "--format", "jsonl", file}, {"report", file}} {
			t["ours process "+args[0]] = processorTime(c.etw, args...)
		}
	}
	if isETL(file) { // which TraceEvent reads on Windows alone
		if c.boundETL != "" {
			if out, err = output(c.boundETL, file, count); err != nil {
				return nil, err
			}
			t.addBound(out)
		}
		return t, nil
	}
	if c.traceEvent != "" {
		if out, err = output(c.traceEvent, "speed", file, count); err != nil {
			return nil, err
		}
		t.addWays("TraceEvent", out)
		if c.etw != "" {
			c.processes(t, file)
		}
	}
	if c.bound != "" {
		if out, err = output(c.bound, file, count); err != nil {
			return nil, err
		}
		t.addBound(out)
	}
	return t, nil
}

// processes measures whole processes of both, from their start on.
func (c *cast) processes(t times, file string) {
	for _, p := range []struct{ task, theirs, ours string }{{"gc", "gc", "gc"}, {"stacks", "stacks", "top"}} {
		t["TraceEvent process "+p.task] = processorTime(c.traceEvent, p.theirs, file)
		t["ours process "+p.task] = processorTime(c.etw, p.ours, file)
	}
}

// processorTime returns the least processor time of some processes, in seconds, or 0 if one
// does not start. Whether they find anything to print makes no difference.
func processorTime(name string, args ...string) float64 {
	least := time.Duration(0)
	for range 5 {
		cmd := exec.Command(name, args...)
		cmd.Run()
		if cmd.ProcessState == nil {
			return 0
		}
		if taken := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); least == 0 || taken < least {
			least = taken
		}
	}
	return least.Seconds()
}

// addWays adds the best time of each way, of all inputs, from lines with commas.
func (t times) addWays(who, out string) {
	for line := range strings.Lines(out) {
		columns := strings.Split(strings.TrimSpace(line), ",")
		if len(columns) < 3 {
			continue
		}
		best, err := strconv.ParseFloat(columns[2], 64)
		if err != nil {
			continue // the heading
		}
		name := who + " " + columns[0]
		if before, ok := t[name]; !ok || best < before {
			t[name] = best
		}
	}
}

var (
	boundTime    = regexp.MustCompile(`(headers|merged) ([0-9.]+) ms`)
	boundETLTime = regexp.MustCompile(`unpacked\): ([0-9.]+) ms`)
)

func (t times) addBound(out string) {
	for _, m := range boundTime.FindAllStringSubmatch(out, -1) {
		if ms, err := strconv.ParseFloat(m[2], 64); err == nil {
			t["bound "+m[1]] = ms / 1e3
		}
	}
	if m := boundETLTime.FindStringSubmatch(out); m != nil {
		if ms, err := strconv.ParseFloat(m[1], 64); err == nil {
			t["bound etl"] = ms / 1e3
		}
	}
}

func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out), nil
}

func isIncomplete(err error) bool { return errors.Is(err, etw.ErrIncomplete) }
