package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/tests/corpus"
)

// TestWindowsAddUp parts the time of traces: the weights of their samples in the parts add up
// to that of the whole, to the nanosecond, also of waits that reach from one part into another.
func TestWindowsAddUp(t *testing.T) {
	weighs := func(args ...string) []int64 {
		t.Helper()
		out, stderr, _ := output(append([]string{"top", "--top", "1", "--format", "json"}, args...)...)
		var top topResult
		if err := json.Unmarshal([]byte(out), &top); err != nil {
			t.Fatalf("%v: %v, %s", args, err, stderr)
		}
		return top.Totals
	}
	for name, of := range sampled {
		for _, path := range corpus.Glob(t, name) {
			whole := weighs("--of", of, path)
			if len(whole) == 0 {
				t.Errorf("%s has no samples of %s", filepath.Base(path), of)
				continue
			}
			sum := make([]int64, len(whole))
			cuts := []string{"", "13.7ms", "250ms", "251ms", "1s", "2.5s", ""}
			for i, to := range cuts[1:] {
				args := []string{"--of", of, path}
				if cuts[i] != "" {
					args = append(args, "--from", cuts[i])
				}
				if to != "" {
					args = append(args, "--to", to)
				}
				for k, x := range weighs(args...) {
					sum[k] += x
				}
			}
			last := len(whole) - 1
			if sum[last] != whole[last] || last > 0 && sum[0] < whole[0] { // one that is in two parts counts in both
				t.Errorf("%s: the parts weigh %d, all of it %d", fmt.Sprint(filepath.Base(path), " ", of), sum, whole)
			}
		}
	}
}

// TestFactsOfWindows holds the facts of a part of the time against its samples.
func TestFactsOfWindows(t *testing.T) {
	path := corpus.Glob(t, "dotnet10/cpu.nettrace")[0]
	out, stderr, _ := output("top", "--from", "300", "--to", "600", "--format", "json", path)
	var top topResult
	if err := json.Unmarshal([]byte(out), &top); err != nil {
		t.Fatalf("%v, %s", err, stderr)
	}
	var managed, external int64
	i := slices.IndexFunc(top.Facts, func(f string) bool { return strings.HasPrefix(f, "thread time") })
	if i < 0 {
		t.Fatalf("%q", top.Facts)
	}
	if _, err := fmt.Sscanf(top.Facts[i], "thread time, running or not: %d samples of 1 thread in managed code, %d in code that it called;", &managed, &external); err != nil {
		t.Fatalf("%q: %v", top.Facts[i], err)
	}
	if managed+external != top.Totals[0] || managed == 0 {
		t.Errorf("%d and %d samples, of %d", managed, external, top.Totals[0])
	}
}

// TestWindowsKnowCode asks for the time of all exceptions: the methods that tell which of them were
// passed on are listed at the end of the trace, and count all the same.
func TestWindowsKnowCode(t *testing.T) {
	path := corpus.Glob(t, "dotnet10/exceptions.nettrace")[0]
	for _, args := range [][]string{
		{"exceptions", "--format", "csv", path},
		{"report", "--format", "text", path},
		{"compare", "--all", "--format", "csv", path, path},
	} {
		told := func(args ...string) (lines []string) {
			out, _, _ := output(args...)
			for line := range strings.Lines(out) {
				if strings.Contains(line, "xception") {
					lines = append(lines, line)
				}
			}
			return lines
		}
		whole, part := told(args...), told(append(args, "--from", "52.6838ms", "--to", "70.7019ms")...)
		if len(whole) == 0 || !slices.Equal(whole, part) {
			t.Errorf("etw %v: %q, and of the time of all exceptions %q", args, whole, part)
		}
	}
}

// TestReportOfWindow holds a page about a part of the time to the commands, of windows that cut pauses,
// requests and waits, or lie within them.
func TestReportOfWindow(t *testing.T) {
	figures := []struct{ trace, page, command, text string }{
		{"gc-workstation", `"note":"([\d.]+) ms in \d+ collections"`, "gc", `pauses +([\d.]+) ms`},
		{"gc-workstation", `"note":"[\d.]+ ms in (\d+) collections"`, "gc", `collections +(\d+)`},
		{"gc-workstation", `"Pauses for collections","unit":"ms","how":"sum","color":"gc","total":"([\d.]+) ms"`, "timeline", `GC pauses +([\d.]+) ms`},
		{"contention", `"note":"(\d+) waits, longest`, "waits --locks", `waits +(\d+)`},
		{"contention", `"note":"\d+ waits, longest ([\d.]+) ms`, "waits --locks", `longest ([\d.]+) ms`},
		{"aspnet", `"label":"Requests","value":"(\d+)"`, "requests", `(?m)^ *(\d+) .* Request +Microsoft\.AspNetCore\.Hosting`},
	}
	pages, found := make(map[string]string), 0
	for _, f := range figures {
		path := corpus.Glob(t, "dotnet10/"+f.trace+".nettrace")[0]
		for _, part := range [][]string{{"--from", "300ms", "--to", "320ms"}, {"--from", "317ms", "--to", "318.5ms"}, {"--to", "250ms"}, {"--from", "400ms"}} {
			key := fmt.Sprint(f.trace, part)
			if pages[key] == "" {
				pages[key], _, _ = output(append([]string{"report", path}, part...)...)
				pages[key] = strings.ReplaceAll(pages[key], "\u00a0", " ")
			}
			text, _, _ := output(slices.Concat(strings.Fields(f.command), part, []string{path})...)
			want, got := regexp.MustCompile(f.text).FindStringSubmatch(text), regexp.MustCompile(f.page).FindStringSubmatch(pages[key])
			switch {
			case want == nil || want[1] == "0":
			case got == nil:
				t.Errorf("%s: etw %s has %s, the page has no %s", key, f.command, want[1], f.page)
			default:
				found++
				a, errA := strconv.ParseFloat(want[1], 64)
				b, errB := strconv.ParseFloat(got[1], 64)
				if errA != nil && got[1] != want[1] || errA == nil && (errB != nil || math.Abs(a-b) > 0.005*a) { // the page has three digits
					t.Errorf("%s: etw %s has %s, the page %s", key, f.command, want[1], got[1])
				}
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d figures of windows", found)
	}
}

// TestCompareOfWindow: of a part of the time compare has the figures of the commands, too.
func TestCompareOfWindow(t *testing.T) {
	part := []string{"--from", "300ms", "--to", "320ms"}
	for _, f := range []struct{ trace, metric, command, text string }{
		{"gc-workstation", "gc.pauseMs", "gc", `pauses +([\d.]+) ms`},
		{"gc-workstation", "gc.count", "gc", `collections +(\d+)`},
		{"cpu", "cpu.ms", "top", `thread time: .*, ([\d.]+) ms`},
	} {
		path := corpus.Glob(t, "dotnet10/"+f.trace+".nettrace")[0]
		text, _, _ := output(slices.Concat([]string{f.command, path}, part)...)
		compared, _, _ := output(slices.Concat([]string{"compare", "--all", path, path}, part)...)
		want := regexp.MustCompile(f.text).FindStringSubmatch(text)
		got := regexp.MustCompile(`(?m)^ *([\d.]+) .* ` + f.metric + `$`).FindStringSubmatch(compared)
		if want == nil || got == nil || strings.TrimSuffix(got[1], ".000") != want[1] {
			t.Errorf("%s: etw %s has %q, compare %q", f.trace, f.command, want, got)
		}
	}
}
