package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/export/parquet"
)

// figures prints the figures of the recordings that a selection such as service=cart,version=1.4*
// chooses: a line of JSON for each, which etw compare reads.
func figures(dir string, selections []string, out io.Writer) error {
	l, err := parquet.OpenLake(dir)
	if err != nil {
		return err
	}
	for path, err := range l.Damaged {
		return fmt.Errorf("%s: %w", path, err)
	}
	var chosen []*parquet.Manifest
	for _, text := range selections {
		s, err := parseSelection(text)
		if err != nil {
			return err
		}
		n := len(chosen)
		for _, m := range l.Manifests {
			if s.match(m) {
				chosen = append(chosen, m)
			}
		}
		if len(chosen) == n {
			return fmt.Errorf("no recording is %s%s", text, s.known(l.Manifests))
		}
	}
	slices.SortFunc(chosen, func(a, b *parquet.Manifest) int { return strings.Compare(a.TraceID, b.TraceID) })
	chosen = slices.Compact(chosen)
	for _, m := range chosen {
		if !slices.Contains(strings.Split(m.Source["tables"], ","), "figures") {
			return fmt.Errorf("%s (%s) was exported without its figures: etw export --tables figures, or all, has them", m.Trace, m.TraceID)
		}
	}
	all, err := l.Figures(chosen)
	if err != nil {
		return err
	}
	e := json.NewEncoder(out)
	for _, f := range all {
		if err := e.Encode(f); err != nil {
			return err
		}
	}
	return nil
}

// A selection chooses recordings: the value of each key has to be of its pattern.
type selection [][2]string

func parseSelection(text string) (s selection, err error) {
	for pair := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return nil, fmt.Errorf("%q is no KEY=VALUE, such as service=cart,version=1.4.0", text)
		}
		if _, err := path.Match(value, ""); err != nil {
			return nil, fmt.Errorf("%q: %w", value, err)
		}
		s = append(s, [2]string{key, value})
	}
	return s, nil
}

// valueOf returns the value of a recording by which it is chosen.
func valueOf(m *parquet.Manifest, key string) string {
	switch key {
	case "trace":
		return m.Trace
	case "trace_id":
		return m.TraceID
	case "date":
		return m.Date
	}
	return m.Resource[parquet.KeyOf(key)]
}

func (s selection) match(m *parquet.Manifest) bool {
	for _, c := range s {
		// A star is to be any text, a stroke too.
		if ok, _ := path.Match(strings.ReplaceAll(c[1], "/", "\x00"), strings.ReplaceAll(valueOf(m, c[0]), "/", "\x00")); !ok {
			return false
		}
	}
	return true
}

// known names some of the values that there are.
func (s selection) known(list []*parquet.Manifest) string {
	text := ""
	for _, c := range s {
		var names []string
		for _, m := range list {
			if v := valueOf(m, c[0]); v != "" && !slices.Contains(names, v) && len(names) < 20 {
				names = append(names, v)
			}
		}
		slices.Sort(names)
		if len(names) == 0 {
			names = []string{"nothing"}
		}
		text += "; of " + c[0] + " there is " + strings.Join(names, ", ")
	}
	return text
}
