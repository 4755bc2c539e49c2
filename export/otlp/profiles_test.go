package otlp_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/profiles"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/runtime/profile"
)

// waits returns the waits of two threads of two processes for locks.
func waits() *stacks.Profile {
	s := stacks.NewSamples("contention", stacks.ValueType{Name: "contentions", Unit: "count"}, stacks.ValueType{Name: "delay", Unit: "nanoseconds"})
	for i := range int64(6) {
		s.AddStack(time.Unix(1000, i), 7+i%2, 70+i%2, s.InternAddresses(7+i%2, []uint64{uint64(i % 3), 100}), s.Label(0, "lock", "\xff"), 1, 10+i)
	}
	return stacks.NewProfile(nil, stacks.Options{}, s)
}

// TestProfilesAgain reads profiles back: weights, processes and threads are those that were
// written, and a reset leaves none of it.
func TestProfilesAgain(t *testing.T) {
	var w otlp.Profiles
	w.Thread = func(_, thread int64) string { return map[int64]string{70: "oven"}[thread] }
	for range 2 {
		w.Add(waits(), 0)
		b := w.AppendProto(nil)
		p, err := profile.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		if p.Types[0].Name != "delay" || p.Types[1].Name != "contentions" || p.Duration != 5 || p.Start != 1000e9 || w.Count() != 12 {
			t.Errorf("%+v from %d for %d, %d samples", p.Types, p.Start, p.Duration, w.Count())
		}
		for value, want := range []int64{75, 6} {
			back, names := profiles.New(p, value, profiles.Options{})
			if got := back.Totals(); got[len(got)-1] != want {
				t.Errorf("%s: %d, want %d", p.Types[value].Name, got, want)
			}
			if names.Threads[70] != "oven" {
				t.Errorf("threads are called %v", names.Threads)
			}
		}
		if w.Reset(); w.Count() != 0 || len(w.AppendProto(nil)) != 0 {
			t.Error("a reset leaves something")
		}
	}
}

// TestSendProfiles has a collector take profiles at their own address, as protobuf, and
// reject some of them, in answers that are as they are to be, and others.
func TestSendProfiles(t *testing.T) {
	var w otlp.Profiles
	w.Add(waits(), 0)
	body := w.AppendProto(nil)
	answer := []byte{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		got, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(got, body) || r.URL.Path != "/v1development/profiles" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s: %d bytes of %s: %v", r.URL.Path, len(got), r.Header.Get("Content-Type"), err)
		}
		w.Write(answer)
	}))
	defer server.Close()
	c, err := otlp.NewClient(server.URL, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		answer string
		count  int64
	}{
		{"", 0}, {"\x0a\x00", 0}, {"\x0a\x07\x08\x02\x12\x03old", 2}, {"\x0a\x02\x08\x05", 5},
		{"\x0a\x07\x08\x02\x12\x63old", 0}, {"\x0a\x01\x08", 0}, {"\x0a\x63", 0}, {"\x0a\xcd\x01\x08\x07\x12\xc8\x01" + strings.Repeat("x", 200), 7}, {"\x0a\x02\x08\xff", 0}, {"{}", 0},
	} {
		answer = []byte(test.answer)
		err := c.Send(t.Context(), otlp.SignalProfiles, body)
		if rejected, _ := errors.AsType[*otlp.RejectedError](err); err != nil && rejected == nil || (rejected != nil) != (test.count > 0) || rejected != nil && rejected.Count != test.count {
			t.Errorf("%q: %v", test.answer, err)
		}
	}
}
