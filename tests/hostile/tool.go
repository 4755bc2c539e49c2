package main

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// testTool runs the trace tool on damaged traces.
func testTool(c *campaign, cfg config) error {
	return c.elsewhere(cfg.module, "./cmd/etw", c.n, c.until, "-hostile.corpus="+cfg.corpus)
}

// testReceivers has the receivers of the collector listen to hostile runtimes and sessions, by
// turns: an execution is one of these.
func testReceivers(c *campaign, cfg config) error {
	began := time.Now()
	for i, name := range []string{"./etwreceiver", "./dotnetreceiver"} {
		until := c.until
		if i == 0 && !until.IsZero() {
			until = began.Add(until.Sub(began) / 2)
		}
		if err := c.elsewhere(filepath.Join(cfg.module, "collector"), name, c.n/2, until); err != nil {
			return err
		}
	}
	return nil
}

var (
	failed  = regexp.MustCompile(`^\s*hostile_test.go:\d+: (run \d+.*)`)
	counted = regexp.MustCompile(`^\s*hostile_test.go:\d+: (\d+) executions`)
)

// elsewhere runs TestHostile of a package that no other can call, for n executions or until a time.
func (c *campaign) elsewhere(dir, pkg string, n int, until time.Time, args ...string) error {
	args = append([]string{"test", pkg, "-count=1", "-v", "-run=^TestHostile$", "-timeout=0", "-args", fmt.Sprintf("-hostile.seed=%d", c.seed), fmt.Sprintf("-hostile.from=%d", c.from)}, args...)
	if left := time.Until(until); n == 0 && left > 0 {
		args = append(args, "-hostile.time="+left.String())
	} else {
		args = append(args, fmt.Sprintf("-hostile.n=%d", n))
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	ran := false
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if m := failed.FindStringSubmatch(lines.Text()); m != nil {
			c.at = pkg
			c.find(c.kind, "%s", m[1])
		}
		if m := counted.FindStringSubmatch(lines.Text()); m != nil {
			more, _ := strconv.Atoi(m[1])
			c.executions, ran = c.executions+more, true
		}
	}
	if err != nil && len(c.findings) == 0 || !ran {
		return fmt.Errorf("go test %s: %w\n%s", pkg, err, out)
	}
	return nil
}
