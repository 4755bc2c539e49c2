package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A shape is a kind of trace that is whole, and that nobody would record: many of one thing.
// Commands that answer from it must cost in proportion to its size.
type shape struct {
	name     string
	n        int // of that thing, in the smallest of three sizes
	write    func(path string, n int) error
	commands []string
}

// steps is how many times larger each size is than the one before.
const steps = 4

// A cost is that of one run of a command.
type cost struct {
	cpu    time.Duration
	memory int64 // the most at one time, in bytes; 0 where the system does not tell
}

// shapes runs the tool on traces of each shape.
type shapesRun struct {
	*campaign
	etw, dir string
}

// testShapes has every shape at three sizes, and the commands for it: an execution is a shape.
func testShapes(c *campaign, cfg config) error {
	dir, err := os.MkdirTemp("", "hostile-shapes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tool, err := buildTool(cfg, dir)
	if err != nil {
		return err
	}
	x := &shapesRun{c, tool, dir}
	c.watch(10 * time.Minute)
	c.n = min(c.n, len(shapes))
	if c.n == 0 {
		c.n = len(shapes)
	}
	fmt.Fprintf(c.out, "| shape | command | %s | %s | %s |\n|---|---|---|---|---|\n", "n", "4 n", "16 n")
	next := int(c.from)
	c.run(func(*rand.Rand) {
		x.shape(&shapes[next%len(shapes)])
		next++
	})
	return nil
}

// shape runs the commands on three sizes of a shape. One that costs as the square of the size
// would, or nearly, is a finding: small ones are not looked at, nor is time that noise explains.
func (x *shapesRun) shape(s *shape) {
	costs := make(map[string][]cost)
	var sizes []string
	for n := s.n; len(sizes) < 3; n *= steps {
		path := filepath.Join(x.dir, "shape")
		if err := s.write(path, n); err != nil {
			x.find("shape", "%s of %d cannot be written: %v", s.name, n, err)
			return
		}
		info, err := os.Stat(path)
		if err != nil {
			x.find("shape", "%v", err)
			return
		}
		sizes = append(sizes, fmt.Sprintf("%d, %.1f MB", n, float64(info.Size())/1e6))
		for _, command := range s.commands {
			one, err := x.cost(command, path)
			if err != nil {
				x.find("shape", "etw %s of %s, %d: %v", command, s.name, n, err)
			}
			costs[command] = append(costs[command], one)
		}
		if x.save != "" {
			os.Rename(path, filepath.Join(x.save, fmt.Sprintf("%s %d", s.name, n)))
		}
	}
	fmt.Fprintf(x.out, "| %s | | %s |\n", s.name, strings.Join(sizes, " | "))
	for _, command := range s.commands {
		row := costs[command]
		var cells []string
		for _, c := range row {
			cells = append(cells, fmt.Sprintf("%.2f s, %d MB", c.cpu.Seconds(), c.memory/1e6))
		}
		fmt.Fprintf(x.out, "| | `%s` | %s |\n", command, strings.Join(cells, " | "))
		if a, b := row[1].cpu, row[2].cpu; b > 3*time.Second && b > 5*steps/2*a {
			x.find("time", "etw %s of %s: %v, and %v of four times as many", command, s.name, a, b)
		}
		if a, b := row[1].memory, row[2].memory; b > 256e6 && b > 2*steps*a {
			x.find("memory", "etw %s of %s: %d MB, and %d MB of four times as many", command, s.name, a/1e6, b/1e6)
		}
	}
}

// cost runs a command on a trace that is whole and has the events it asks for. Its answer is
// thrown away.
func (x *shapesRun) cost(command, path string) (cost, error) {
	args := append(strings.Fields(command), path)
	if args[0] == "report" {
		args = append(args, "-o", filepath.Join(x.dir, "page.html"))
	}
	var said strings.Builder
	cmd := exec.Command(x.etw, args...)
	cmd.Stderr = &said
	forgetPeak()
	x.executionAt.Store(time.Now().UnixNano()) // each command has the time of an execution
	err := cmd.Run()
	if err != nil || strings.HasPrefix(said.String(), "etw: the trace") {
		return cost{}, fmt.Errorf("%v: %.200s", err, said.String())
	}
	return cost{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), peak(cmd.ProcessState)}, nil
}
