package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/tests/hostile/replay"
)

// A batch is a provider that is generated, built and run with many payloads, by a
// program in a module of its own.
type batch struct {
	*campaign
	dir  string // of the module
	cuts int
	anys int // types for all versions
}

// newBatch makes the module.
func newBatch(c *campaign) (*batch, error) {
	dir, err := os.MkdirTemp("", "hostile-")
	if err != nil {
		return nil, err
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.GoVersion}}\n\nreplace {{.Path}} => {{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	mod := fmt.Sprintf("module hostile\n\nrequire github.com/etwgen/etwgen v0.0.0\n\ngo %s", root)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o666); err != nil {
		return nil, err
	}
	return &batch{campaign: c, dir: dir}, nil
}

func (b *batch) close() error { return os.RemoveAll(b.dir) }

// repeat runs batches until enough payloads were decoded.
func (b *batch) repeat(make func(*rand.Rand) *provider, perEvent int) error {
	for i := b.from; !b.over(); i++ {
		r := rand.New(rand.NewPCG(b.seed, i))
		b.at = fmt.Sprintf("batch %d", i)
		if err := b.one(r, i, make(r), perEvent); err != nil {
			return fmt.Errorf("batch %d: %w", i, err)
		}
	}
	fmt.Fprintf(b.out, "%d truncated payloads were decoded besides; %d types for all versions\n", b.cuts, b.anys)
	return nil
}

// one runs one batch.
func (b *batch) one(r *rand.Rand, number uint64, p *provider, perEvent int) error {
	text := p.manifest()
	b.mutant = text
	m, _, err := manifest.Parse("hostile.man", text, manifest.Options{})
	if err != nil {
		return fmt.Errorf("the manifest was refused: %w", err)
	}
	files, err := gen.Generate(m, gen.Options{Package: "p"})
	if err != nil {
		b.find("generate", "%v", err)
		return nil
	}
	if err := b.write(files); err != nil {
		return err
	}
	program := filepath.Join(b.dir, "program")
	if out, err := b.command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.find("build", "%v\n%s", err, out)
		return nil
	}
	var cases bytes.Buffer
	in := json.NewEncoder(&cases)
	byDescription := replay.NewChecker(m.Describe()[0], b.note, nil)
	for i := range p.events {
		for range perEvent {
			k := newCase(r, number, &p.events[i])
			byDescription.Check(k)
			if err := in.Encode(k); err != nil {
				return err
			}
		}
	}
	b.note(byDescription.Result)
	run := b.command(program)
	run.Stdin = &cases
	run.Stderr = os.Stderr
	out, err := run.Output()
	if err != nil {
		b.find("crash", "%v", err)
	}
	return b.read(out)
}

// newCase makes a payload for an event.
func newCase(r *rand.Rand, number uint64, e *event) *replay.Case {
	ptr := 4 + 4*r.IntN(2)
	k := &replay.Case{Number: number, ID: uint16(e.id), Version: uint8(e.version)}
	k.Payload, k.Want = encode(r, e.fields, ptr)
	k.Ptr = 4
	if ptr == 8 {
		k.Ptr = 8
	}
	return k
}

// command runs in the module, with the tools at hand.
func (b *batch) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "GOPROXY=off")
	return cmd
}

var allVersions = regexp.MustCompile(`(?m)^func \(e \*(\w+)\) DecodeVersion\(`)

// write writes the generated package and the program.
func (b *batch) write(files []gen.File) error {
	if err := os.RemoveAll(filepath.Join(b.dir, "p")); err != nil {
		return err
	}
	var anys strings.Builder
	for _, f := range files {
		for _, match := range allVersions.FindAllSubmatch(f.Content, -1) {
			fmt.Fprintf(&anys, ", new(p.%s)", match[1])
			b.anys++
		}
		name := filepath.Join(b.dir, "p", filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.Content, 0o666); err != nil {
			return err
		}
	}
	program := fmt.Sprintf(`package main

import (
	"github.com/etwgen/etwgen/tests/hostile/replay"

	"hostile/p"
)

func main() {
	replay.Main(p.Provider, p.Types()%s)
}
`, anys.String())
	return os.WriteFile(filepath.Join(b.dir, "main.go"), []byte(program), 0o666)
}

// read reads the results of the program.
func (b *batch) read(out []byte) error {
	results := json.NewDecoder(bytes.NewReader(out))
	for {
		var r replay.Result
		if err := results.Decode(&r); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		b.note(r)
	}
}

// note counts a result.
func (b *batch) note(r replay.Result) {
	if r.Class != "" {
		b.find(r.Class, "%s", r.Problem)
	}
	b.executions += r.Payloads
	b.cuts += r.Cuts
}
