package view

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/desk"
	"github.com/etwgen/etwgen/internal/command"
)

// An answer is what a command printed.
type answer struct {
	key  string
	body []byte
	said string // on the standard error
	exit int
}

// The most that is kept of answers, and the largest one.
const (
	mostKept  = 64 << 20
	mostBytes = 64 << 20
)

// api answers a question: "" asks which there are.
func (s *server) api(w http.ResponseWriter, r *http.Request, name string) {
	if name == "" {
		reply(w, http.StatusOK, map[string]any{
			"files": s.files, "version": command.Version(), "questions": s.questions, "of": samples.Names(), "presets": stacks.Presets(),
		})
		return
	}
	q := s.find(name)
	if q == nil {
		reply(w, http.StatusNotFound, map[string]any{"error": fmt.Sprintf("there is no question %q", name)})
		return
	}
	args, err := s.line(q, r.URL.Query())
	if err != nil {
		reply(w, http.StatusBadRequest, map[string]any{"error": err.Error(), "exit": cli.ExitUsage})
		return
	}
	a, err := s.ask(r.Context(), args)
	switch {
	case err != nil && r.Context().Err() != nil: // nobody waits any more
	case err != nil:
		reply(w, http.StatusInternalServerError, map[string]any{"error": err.Error()})
	case a.exit == cli.ExitUsage:
		reply(w, http.StatusBadRequest, map[string]any{"error": a.said, "exit": a.exit})
	case len(a.body) == 0:
		reply(w, http.StatusUnprocessableEntity, map[string]any{"error": a.said, "exit": a.exit})
	default:
		w.Header().Set("Etw-Exit", strconv.Itoa(a.exit))
		w.Header().Set("Content-Type", formats[formatOf(r.URL.Query())])
		w.Write(a.body)
	}
}

// formats are those of answers.
var formats = map[string]string{"json": "application/json", "csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}

func formatOf(values url.Values) string { return cmp.Or(values.Get("format"), "json") }

// line returns the command line of a question, as one would type it.
func (s *server) line(q *question, values url.Values) ([]string, error) {
	if _, ok := formats[formatOf(values)]; !ok {
		return nil, fmt.Errorf("format cannot be %q", formatOf(values))
	}
	args := []string{q.Name, "--format=" + formatOf(values)}
	files := s.files
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range values {
			if !yield(name) {
				return
			}
		}
	}) {
		switch name {
		case "format":
			continue
		case "file":
			var err error
			if files, err = s.chosen(values.Get(name)); err != nil {
				return nil, err
			}
			continue
		}
		o := q.option(name)
		if o == nil {
			return nil, fmt.Errorf("%s has no flag %q", q.Name, name)
		}
		for _, v := range values[name] {
			if o.Trace {
				chosen, err := s.chosen(v)
				if err != nil || len(chosen) != 1 {
					return nil, fmt.Errorf("%s is the number of a file, from 0 on, and not %q", name, v)
				}
				v = chosen[0].path
			}
			args = append(args, "--"+name+"="+v)
		}
	}
	args = append(args, "--")
	for _, f := range files {
		args = append(args, f.path)
	}
	return args, nil
}

// chosen returns the files of numbers, with commas between them.
func (s *server) chosen(text string) ([]file, error) {
	var list []file
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n >= len(s.files) {
			return nil, fmt.Errorf("there is no file %q: they are numbered from 0 to %d", part, len(s.files)-1)
		}
		list = append(list, s.files[n])
	}
	return list, nil
}

// ask runs a command line, or returns what it printed before. One runs at a time: what it
// finds in the traces is kept for those behind it.
func (s *server) ask(ctx context.Context, args []string) (*answer, error) {
	key := fmt.Sprintf("%q", args) + cli.Stamps(args)
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if a := s.recall(key); a != nil {
		return a, nil
	}
	ctx = context.WithValue(ctx, cli.ShelfKey{}, &s.shelf)
	stdout, stderr := &desk.Buffer{Most: mostBytes}, &desk.Buffer{Most: 64 << 10}
	a := &answer{key: key, exit: s.run(ctx, args, bytes.NewReader(nil), stdout, stderr)}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if stdout.Full {
		return nil, fmt.Errorf("the answer is larger than %d MB: ask for less", mostBytes>>20)
	}
	a.body, a.said = stdout.Bytes(), strings.TrimSpace(stderr.String())
	s.keep(*a)
	return a, nil
}

// recall returns an answer that is kept, or nil.
func (s *server) recall(key string) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.kept, func(a answer) bool { return a.key == key })
	if i < 0 {
		return nil
	}
	a := s.kept[i]
	s.kept = append(slices.Delete(s.kept, i, i+1), a)
	return &a
}

// keep keeps an answer, and forgets those that were used longest ago.
func (s *server) keep(a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, a)
	s.keeping += len(a.body)
	for s.keeping > mostKept && len(s.kept) > 1 {
		s.keeping -= len(s.kept[0].body)
		s.kept = slices.Delete(s.kept, 0, 1)
	}
}
