package main

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
)

// A desk is where the questions of an assistant are answered: it has the traces that are
// open, and the answers that there is more of.
type desk struct {
	command runner
	roots   []string // folders, without links
	limit   time.Duration

	mu      sync.Mutex
	traces  []*openedTrace // the one that was used last at the end
	opened  int
	answers []*givenAnswer // those that were given last
	given   int
}

// An openedTrace is a trace that has a handle.
type openedTrace struct {
	handle string
	path   string
	shelf  shelf
	turn   chan struct{} // has room for one who asks
}

// A givenAnswer is a document of which there may be more to see.
type givenAnswer struct {
	id     string
	handle string
	doc    *shownNode
}

// The limits of what is kept.
const (
	mostTraces  = 16
	mostAnswers = 32
	mostBytes   = 64 << 20 // of a document
)

// A runner runs a command line, and returns its exit code.
type runner func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int

// newDesk returns a desk that answers by running commands, and reads files in folders alone.
func newDesk(run runner, roots []string, limit time.Duration) (*desk, error) {
	d := &desk{command: run, limit: limit}
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
		d.roots = append(d.roots, path)
	}
	return d, nil
}

// errOutside says that a path is not one that may be read. It does not say what is there.
var errOutside = errors.New("is not a file in the folders that may be read")

// resolve returns the file or folder that a path leads to, if it may be read. Links are
// followed first, so that none leads out of the roots.
func (d *desk) resolve(path string, folder bool) (string, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("%q %w", path, errOutside)
	}
	for _, root := range d.roots {
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

// trace returns the trace of a handle or at a path, which is opened if it is not.
func (d *desk) trace(text string) (*openedTrace, error) {
	path := text
	known := d.use(func(t *openedTrace) bool { return t.handle == text })
	if known != nil {
		path = known.path // which may lead elsewhere by now
	}
	path, err := d.resolve(path, false)
	if err != nil && known == nil && isHandle(text) {
		return nil, fmt.Errorf("there is no open trace %q: open_trace gives handles", text)
	} else if err != nil {
		return nil, err
	}
	if t := d.use(func(t *openedTrace) bool { return t.path == path }); t != nil {
		return t, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.traces) == mostTraces {
		d.forget(0)
	}
	d.opened++
	t := &openedTrace{handle: fmt.Sprintf("t%d", d.opened), path: path, turn: make(chan struct{}, 1)}
	d.traces = append(d.traces, t)
	return t, nil
}

// use returns the open trace that is meant, or nil. It is then the one that was used last.
func (d *desk) use(meant func(*openedTrace) bool) *openedTrace {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.traces, meant)
	if i < 0 {
		return nil
	}
	t := d.traces[i]
	d.traces = append(slices.Delete(d.traces, i, i+1), t)
	return t
}

// handleOf returns the handle of the file at a path, or "".
func (d *desk) handleOf(path string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.traces {
		if t.path == path {
			return t.handle
		}
	}
	return ""
}

// isHandle reports whether a text looks like a handle.
func isHandle(text string) bool {
	digits, ok := strings.CutPrefix(text, "t")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// forget forgets a trace, and what was found in it.
func (d *desk) forget(i int) {
	handle := d.traces[i].handle
	d.traces = slices.Delete(d.traces, i, i+1)
	d.answers = slices.DeleteFunc(d.answers, func(a *givenAnswer) bool { return a.handle == handle })
}

// open opens a file in the folders that may be read. Whatever became of the path since it
// was looked at, nothing outside of them is opened, and nothing that makes one wait.
func (d *desk) open(path string) (*os.File, error) {
	for _, root := range d.roots {
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

// close forgets a trace, and what was found in it.
func (d *desk) close(handle string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.traces, func(t *openedTrace) bool { return t.handle == handle })
	if i < 0 {
		return fmt.Errorf("there is no open trace %q", handle)
	}
	d.forget(i)
	return nil
}

// give keeps an answer, for more of it to be asked for.
func (d *desk) give(handle string, doc *shownNode) *givenAnswer {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.answers {
		if a.doc == doc {
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

// answer returns the answer of an id.
func (d *desk) answer(id string) (*givenAnswer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.answers {
		if a.id == id {
			return a, nil
		}
	}
	return nil, fmt.Errorf("there is no answer %q any more: ask again", id)
}

// A reply is what a command printed.
type reply struct {
	doc *shownNode // among its warnings is what was said beside it
}

// ask runs a command that prints a document. Of a trace one question is answered at a
// time; what was found in it is kept.
func (d *desk) ask(ctx context.Context, t *openedTrace, args []string) (*reply, error) {
	if t != nil {
		select {
		case t.turn <- struct{}{}:
			defer func() { <-t.turn }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		ctx = context.WithValue(ctx, shelfKey{}, &t.shelf)
	}
	key := fmt.Sprintf("%q", args)
	if t != nil {
		key += stamps(args) // of those that are files
		if r, ok := t.shelf.get(key); ok {
			return r.(*reply), nil
		}
	}
	r, whole, err := d.run(ctx, args)
	if t != nil && err == nil && whole {
		t.shelf.put(key, r)
	}
	return r, err
}

// run runs a command, and reports whether it came to its end.
func (d *desk) run(ctx context.Context, args []string) (r *reply, whole bool, err error) {
	var cancel context.CancelFunc = func() {}
	caller := ctx
	if d.limit > 0 {
		ctx, cancel = context.WithTimeout(ctx, d.limit)
	}
	defer cancel()
	ctx = context.WithValue(ctx, openerKey{}, d.open)
	stdout, stderr := &limitedBuffer{}, &limitedBuffer{}
	code := d.command(ctx, args, bytes.NewReader(nil), stdout, stderr)
	if err := caller.Err(); err != nil {
		return nil, false, err
	}
	notes := saidLines(stderr.String())
	if ctx.Err() != nil {
		notes = slices.Insert(notes, 0, fmt.Sprintf("stopped after %v, the --timeout of this server, before the end of the trace: "+
			"numbers are of what was read until then; ask for less (from, to, process), or have the server started with a longer one", d.limit))
	}
	if stdout.full {
		return nil, false, fmt.Errorf("the answer is larger than %d MB: ask for less", mostBytes>>20)
	}
	if stdout.Len() == 0 || code == exitUsage {
		return nil, false, errors.New(strings.Join(notes, "; "))
	}
	doc, err := parseNodes(stdout.Bytes())
	if err != nil {
		return nil, false, err
	}
	doc.warn(notes)
	return &reply{doc}, ctx.Err() == nil, nil
}

// saidLines returns what was said on the standard error, line by line.
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

// A limitedBuffer keeps what is written to it, unless that is too much.
type limitedBuffer struct {
	bytes.Buffer
	full bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.full = b.full || b.Len()+len(p) > mostBytes; b.full {
		return 0, &fs.PathError{Op: "write", Path: "the answer", Err: errors.New("is too large")}
	}
	return b.Buffer.Write(p)
}
