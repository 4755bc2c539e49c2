package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// How many events a page has, if nobody says how many, and at most.
const (
	usualRows = 200
	mostRows  = 10_000
)

// A page is some events, as etw dump --format jsonl prints them.
type page struct {
	Rows []json.RawMessage `json:"rows"`
	Next string            `json:"next,omitempty"` // the cursor of those that follow, if there are more
	Said string            `json:"said,omitempty"` // beside them
}

// A cursor is a place between two events: behind some of those of a time. It is a text such
// as 12.5_2, which means the same for all who have the trace.
type cursor struct {
	ms   string // as rows have it
	skip int    // events of that time
}

// mostSkipped is how many events of one time are passed over.
const mostSkipped = 1 << 20

// parseCursor reads a cursor.
func parseCursor(text string) (cursor, error) {
	ms, skip, _ := strings.Cut(text, "_")
	n, err := strconv.Atoi(skip)
	if strings.Trim(ms, "-0123456789.") != "" || ms == "" || err != nil || n < 0 || n > mostSkipped {
		return cursor{}, fmt.Errorf("after: %q is no cursor that an answer gave", text)
	}
	return cursor{ms, n}, nil
}

// events answers with a page of events: those behind the cursor after, limit of them.
func (s *server) events(w http.ResponseWriter, r *http.Request, values url.Values) {
	limit, at := usualRows, cursor{}
	if text := values.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostRows {
			refuse(w, fmt.Errorf("limit: %q is no number from 1 to %d", text, mostRows))
			return
		}
		limit = n
	}
	if text := values.Get("after"); text != "" {
		var err error
		if at, err = parseCursor(text); err != nil {
			refuse(w, err)
			return
		}
		values.Set("from", at.ms+"ms")
	}
	values.Del("after")
	values.Set("format", "jsonl")
	values.Set("limit", strconv.Itoa(at.skip+limit+1)) // the last one tells that there are more
	args, err := s.line(s.find("dump"), values)
	if err != nil {
		refuse(w, err)
		return
	}
	a, err := s.leap(r.Context(), args)
	if err == nil && len(a.body) == 0 { // the whole trace tells why
		a, err = s.ask(r.Context(), args)
	}
	if a = answered(w, r, a, err); a == nil {
		return
	}
	p, err := pageOf(a.body, at, limit)
	if err != nil {
		reply(w, http.StatusInternalServerError, map[string]any{"error": err.Error()})
		return
	}
	p.Said = a.said
	reply(w, http.StatusOK, p)
}

// pageOf returns a page of the lines of an answer, which begin at the time of a cursor.
func pageOf(text []byte, at cursor, limit int) (page, error) {
	var rows []json.RawMessage
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); !json.Valid(line) {
			return page{}, fmt.Errorf("a line of the answer is no JSON: %.80q", line)
		}
		rows = append(rows, line)
	}
	first := min(at.skip, len(rows))
	last := min(first+limit, len(rows))
	p := page{Rows: append([]json.RawMessage{}, rows[first:last]...)}
	if last < len(rows) {
		next := cursor{ms: timeOf(rows[last-1])}
		for i := last - 1; i >= 0 && timeOf(rows[i]) == next.ms; i-- {
			next.skip++
		}
		p.Next = next.ms + "_" + strconv.Itoa(next.skip)
	}
	return p, nil
}

// timeOf returns the time of a row, as it is written.
func timeOf(row json.RawMessage) string {
	var at struct {
		MS json.Number `json:"ms"`
	}
	if json.Unmarshal(row, &at) != nil {
		return ""
	}
	return at.MS.String()
}
