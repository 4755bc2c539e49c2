package view

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/etwgen/etwgen/cmd/etw/internal/code"
)

// export answers with a file for another tool: the one that etw export writes of the samples.
func (s *server) export(w http.ResponseWriter, r *http.Request, values url.Values) {
	format := values.Get("format")
	values.Del("format")
	suffix := suffixOf(format)
	if suffix == "" {
		refuse(w, fmt.Errorf("format cannot be %q", format))
		return
	}
	args, err := s.line(&s.exporting, values)
	if err != nil {
		refuse(w, err)
		return
	}
	args[1] = "--format=" + format
	if a := s.answer(w, r, args); a != nil {
		name := strings.Map(func(c rune) rune { // of a header
			if c < ' ' || c > '~' || strings.ContainsRune(`"\\/;`, c) {
				return '_'
			}
			return c
		}, strings.TrimSuffix(s.files[0].Name, filepath.Ext(s.files[0].Name)))
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s%s"`, name, suffix))
		w.Write(a.body)
	}
}

// suffixOf returns the suffix of the files of a format that is one file of samples, or "".
func suffixOf(format string) string {
	if format == "firefox" { // which has other events, too
		return ".firefox.json"
	}
	for _, f := range code.ProfileForms {
		if f.Name == format && len(f.Suffixes) > 0 {
			return f.Suffixes[0]
		}
	}
	return ""
}
