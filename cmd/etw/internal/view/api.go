package view

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/command"
)

// api answers a question: "" asks which there are.
func (s *server) api(w http.ResponseWriter, r *http.Request, name string) {
	values := r.URL.Query()
	switch name {
	case "":
		files, growing := s.now()
		unnamed := ""
		if s.growing.Unnamed != nil {
			unnamed = s.growing.Unnamed()
		}
		reply(w, http.StatusOK, map[string]any{
			"files": files, "growing": growing, "unnamed": unnamed, "version": command.Version(), "questions": s.questions, "of": samples.Names(), "presets": stacks.Presets(), "symbols": s.symbols,
			exporting: s.exporting.names(), comparing: s.comparing.names(),
		})
	case "progress":
		files, _ := s.now()
		reply(w, http.StatusOK, s.pass.now(files))
	case "events":
		s.events(w, r, values)
	case exporting:
		s.export(w, r, values)
	case comparing:
		s.question(w, r, &s.comparing, values)
	default:
		q := s.find(name)
		if q == nil {
			reply(w, http.StatusNotFound, map[string]any{"error": fmt.Sprintf("there is no question %q", name)})
			return
		}
		s.question(w, r, q, values)
	}
}

// question answers with the output of a command.
func (s *server) question(w http.ResponseWriter, r *http.Request, q *question, values url.Values) {
	args, err := s.line(q, values)
	if err != nil {
		refuse(w, err)
		return
	}
	if a := s.answer(w, r, args); a != nil {
		w.Header().Set("Content-Type", formats[formatOf(values)])
		w.Write(a.body)
	}
}

// refuse says why a question is invalid.
func refuse(w http.ResponseWriter, err error) {
	reply(w, http.StatusBadRequest, map[string]any{"error": err.Error(), "exit": cli.ExitUsage})
}

// answer runs a command line, and returns its output, as answered does.
func (s *server) answer(w http.ResponseWriter, r *http.Request, args []string) *answer {
	a, err := s.ask(r.Context(), args)
	return answered(w, r, a, err)
}

// answered returns an answer. Where there is nothing, or nobody waits any more, it says so itself
// and returns nil.
func answered(w http.ResponseWriter, r *http.Request, a *answer, err error) *answer {
	switch {
	case err != nil && r.Context().Err() != nil:
	case errors.Is(err, errLarge):
		reply(w, http.StatusRequestEntityTooLarge, map[string]any{"error": err.Error()})
	case err != nil:
		reply(w, http.StatusInternalServerError, map[string]any{"error": err.Error()})
	case a.exit == cli.ExitUsage:
		reply(w, http.StatusBadRequest, map[string]any{"error": a.said, "exit": a.exit})
	case len(a.body) == 0:
		reply(w, http.StatusUnprocessableEntity, map[string]any{"error": a.said, "exit": a.exit})
	default:
		w.Header().Set("Etw-Exit", strconv.Itoa(a.exit))
		return a
	}
	return nil
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
	before, files := []file(nil), s.files
	for _, name := range slices.Sorted(maps.Keys(values)) {
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
				if q.Name == comparing {
					before = chosen
					continue
				}
			}
			args = append(args, "--"+name+"="+v)
		}
	}
	if q.Name == comparing && before == nil {
		return nil, errors.New("compare takes diff, the number of the file of before")
	}
	if q.Symbols {
		args = append(args, s.symbols...)
	}
	for _, f := range before { // two lists, with -- between them
		args = append(args, f.path)
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
