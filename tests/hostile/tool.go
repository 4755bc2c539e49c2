package main

import (
	"bufio"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// testTool runs the trace tool on damaged traces. It is a program, and can only be
// called by a test of its own, which this starts.
func testTool(c *campaign, cfg config) error {
	cmd := exec.Command("go", "test", "./cmd/etw", "-count=1", "-run=^TestHostile$", "-timeout=0", "-args",
		fmt.Sprintf("-hostile.n=%d", c.n), fmt.Sprintf("-hostile.seed=%d", c.seed), fmt.Sprintf("-hostile.from=%d", c.from), "-hostile.corpus="+cfg.corpus)
	cmd.Dir = cfg.module
	out, err := cmd.Output()
	c.executions = c.n
	if err == nil {
		return nil
	}
	failed := regexp.MustCompile(`^\s*hostile_test.go:\d+: (run \d+.*)`)
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if m := failed.FindStringSubmatch(lines.Text()); m != nil {
			c.at = "etw"
			c.find("tool", "%s", m[1])
		}
	}
	if len(c.findings) == 0 {
		return fmt.Errorf("go test: %w\n%s", err, out)
	}
	return nil
}
