package desk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/order"
)

// A Desk is where the questions of an assistant are answered: it has the traces that are
// open, and the answers that there is more of.
type Desk struct {
	Command Runner
	Roots   []string // folders, without links
	Limit   time.Duration

	mu      sync.Mutex
	Traces  []*OpenedTrace // the one that was used last at the end
	opened  int
	answers []*givenAnswer // those that were given last
	given   int
}

// An OpenedTrace is a trace that has a handle.
type OpenedTrace struct {
	Handle string
	Path   string
	Shelf  cli.Shelf
	turn   chan struct{} // has room for one who asks
}

// A givenAnswer is a document of which there may be more to see.
type givenAnswer struct {
	ID     string
	handle string
	Doc    *shownNode
}

// The limits of the memory.
const (
	MostTraces  = 16
	mostAnswers = 32
	mostBytes   = 64 << 20 // of a document
)

// A Runner runs a command line, and returns its exit code.
type Runner func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int

// New returns a desk that answers by running commands, and reads files in folders alone.
func New(run Runner, roots []string, limit time.Duration) (*Desk, error) {
	d := &Desk{Command: run, Limit: limit}
	for _, root := range roots {
		path, err := filepath.Abs(root)
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%s is no folder", root)
		}
		d.Roots = append(d.Roots, path)
	}
	return d, nil
}

// errOutside says that a path is not one that may be read. It does not say whether there is a
// file.
var errOutside = errors.New("is not a file in the folders that may be read")

// Resolve returns the file or folder that a path leads to, if it may be read. Links are
// followed first, so that none leads out of the roots.
func (d *Desk) Resolve(path string, folder bool) (string, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("%q %w", path, errOutside)
	}
	for _, root := range d.Roots {
		full := path
		if !filepath.IsAbs(path) {
			full = filepath.Join(root, path)
		}
		full, err := filepath.EvalSymlinks(full)
		if err != nil || !within(root, full) {
			continue
		}
		info, err := os.Lstat(full)
		if err != nil || folder != info.IsDir() || !folder && !info.Mode().IsRegular() {
			continue
		}
		return full, nil
	}
	return "", fmt.Errorf("%q %w", path, errOutside)
}

// within reports whether a path without links is in a folder.
func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// Trace returns the trace of a handle or at a path, which is opened if it is not.
func (d *Desk) Trace(text string) (*OpenedTrace, error) {
	path := text
	known := d.use(func(t *OpenedTrace) bool { return t.Handle == text })
	if known != nil {
		path = known.Path // which may lead elsewhere by now
	}
	path, err := d.Resolve(path, false)
	if err != nil && known == nil && isHandle(text) {
		return nil, fmt.Errorf("there is no open trace %q: open_trace gives handles", text)
	} else if err != nil {
		return nil, err
	}
	if t := d.use(func(t *OpenedTrace) bool { return t.Path == path }); t != nil {
		return t, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.Traces) == MostTraces {
		d.forget(0)
	}
	d.opened++
	t := &OpenedTrace{Handle: fmt.Sprintf("t%d", d.opened), Path: path, turn: make(chan struct{}, 1)}
	d.Traces = append(d.Traces, t)
	return t, nil
}

// use returns the open trace that is meant, or nil. It is then the one that was used last.
func (d *Desk) use(meant func(*OpenedTrace) bool) *OpenedTrace {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.Traces, meant)
	if i < 0 {
		return nil
	}
	t := d.Traces[i]
	d.Traces = append(slices.Delete(d.Traces, i, i+1), t)
	return t
}

// HandleOf returns the handle of the file at a path, or "".
func (d *Desk) HandleOf(path string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.Traces {
		if t.Path == path {
			return t.Handle
		}
	}
	return ""
}

// isHandle reports whether a text looks like a handle.
func isHandle(text string) bool {
	digits, ok := strings.CutPrefix(text, "t")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// forget forgets a trace, and the findings in it.
func (d *Desk) forget(i int) {
	handle := d.Traces[i].Handle
	d.Traces = slices.Delete(d.Traces, i, i+1)
	d.answers = order.Delete(d.answers, func(a *givenAnswer) bool { return a.handle == handle })
}

// Open opens a file in the folders that may be read. Whatever became of the path since it
// was looked at, nothing outside of them is opened, and nothing that makes one wait.
func (d *Desk) Open(path string) (*os.File, error) {
	for _, root := range d.Roots {
		rel, err := filepath.Rel(root, path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		f, err := openWithin(root, rel)
		if err != nil {
			continue
		}
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return f, nil
		}
		f.Close()
	}
	return nil, errOutside
}

// openWithin opens a file below a folder.
func openWithin(folder, rel string) (*os.File, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenFile(rel, os.O_RDONLY|withoutWaiting, 0)
}

// Close forgets a trace, and the findings in it.
func (d *Desk) Close(handle string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.Traces, func(t *OpenedTrace) bool { return t.Handle == handle })
	if i < 0 {
		return fmt.Errorf("there is no open trace %q", handle)
	}
	d.forget(i)
	return nil
}

// Give keeps an answer, for more of it to be asked for.
func (d *Desk) Give(handle string, doc *shownNode) *givenAnswer {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.answers {
		if a.Doc == doc {
			return a
		}
	}
	d.given++
	a := &givenAnswer{fmt.Sprintf("r%d", d.given), handle, doc}
	d.answers = append(d.answers, a)
	if len(d.answers) > mostAnswers {
		d.answers = d.answers[1:]
	}
	return a
}

// Answer returns the answer of an id.
func (d *Desk) Answer(id string) (*givenAnswer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.answers {
		if a.ID == id {
			return a, nil
		}
	}
	return nil, fmt.Errorf("there is no answer %q any more: ask again", id)
}

// A Reply is the output of a command.
type Reply struct {
	Doc *shownNode // among its warnings is what was said beside it
}

// Ask runs a command that prints a document. Of a trace one question is answered at a time;
// findings in it are kept.
func (d *Desk) Ask(ctx context.Context, t *OpenedTrace, args []string) (*Reply, error) {
	if t != nil {
		select {
		case t.turn <- struct{}{}:
			defer func() { <-t.turn }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		ctx = context.WithValue(ctx, cli.ShelfKey{}, &t.Shelf)
	}
	key := fmt.Sprintf("%q", args)
	if t != nil {
		key += cli.Stamps(args) // of those that are files
		if r, ok := t.Shelf.Get(key); ok {
			return r.(*Reply), nil
		}
	}
	r, whole, err := d.run(ctx, args)
	if t != nil && err == nil && whole {
		t.Shelf.Put(key, r)
	}
	return r, err
}

// run runs a command, and reports whether it came to its end.
func (d *Desk) run(ctx context.Context, args []string) (r *Reply, whole bool, err error) {
	var cancel context.CancelFunc = func() {}
	caller := ctx
	if d.Limit > 0 {
		ctx, cancel = context.WithTimeout(ctx, d.Limit)
	}
	defer cancel()
	ctx = context.WithValue(ctx, cli.OpenerKey{}, d.Open)
	stdout, stderr := &Buffer{Most: mostBytes}, &Buffer{Most: mostBytes}
	code := d.Command(ctx, args, bytes.NewReader(nil), stdout, stderr)
	if err := caller.Err(); err != nil {
		return nil, false, err
	}
	notes := saidLines(stderr.String())
	if ctx.Err() != nil {
		notes = slices.Insert(notes, 0, fmt.Sprintf("stopped after %v, the --timeout of this server, before the end of the trace: "+
			"numbers are of the part read until then; ask for less (from, to, process), or have the server started with a longer one", d.Limit))
	}
	if stdout.Full {
		return nil, false, fmt.Errorf("the answer is larger than %d MB: ask for less", mostBytes>>20)
	}
	if stdout.Len() == 0 || code == cli.ExitUsage {
		return nil, false, errors.New(strings.Join(notes, "; "))
	}
	doc, err := ParseNodes(stdout.Bytes())
	if err != nil {
		return nil, false, err
	}
	doc.warn(notes)
	return &Reply{doc}, ctx.Err() == nil, nil
}

// saidLines returns the messages on the standard error, line by line.
func saidLines(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "etw: ")
		if line, _, _ = strings.Cut(line, "; see etw "); line != "" && !slices.Contains(list, line) {
			list = append(list, line)
		}
	}
	return list
}

// A Buffer keeps the bytes written to it, unless they are too many.
type Buffer struct {
	bytes.Buffer
	Most int
	Full bool
}

func (b *Buffer) Write(p []byte) (int, error) {
	if b.Full = b.Full || b.Len()+len(p) > b.Most; b.Full {
		return 0, &fs.PathError{Op: "write", Path: "the answer", Err: errors.New("is too large")}
	}
	return b.Buffer.Write(p)
}
