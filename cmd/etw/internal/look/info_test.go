package look

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// TestInfoOfTheLarge: a file read in part has no numbers of the part, in no format, and says
// so.
func TestInfoOfTheLarge(t *testing.T) {
	process := etw.MustParseGUID("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c")
	header := etltest.DefaultHeader()
	header.Processors, header.BufferSize = 2, 4096
	var records []*etw.Record
	for i := range 4000 {
		records = append(records, &etw.Record{Timestamp: header.Clock.Origin + int64(i)*2500, PointerSize: etw.Ptr64, Kind: etw.KindClassic, Provider: process, Opcode: 1, Version: 4, ProcessID: 4, ThreadID: 8, Payload: make([]byte, 40)})
	}
	data := testio.Encoded(t, etltest.File, header, records...)
	path := filepath.Join(t.TempDir(), "kernel.etl")
	testio.Write(t, path, data)
	files, err := trace.OpenFiles(path, trace.WithExcerpt(128<<10))
	if err != nil {
		t.Fatal(err)
	}
	defer files[0].Close()
	s := newSurvey(files[0])
	cmd := NewInfo()
	cmd.SetContext(t.Context())
	if err := s.read(cmd); err != nil {
		t.Fatal(err)
	}
	b, err := s.json(nil)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Events    *int64
		Read      int64 `json:"readBytes"`
		Processes []struct{ Events *int64 }
		Providers []struct {
			Provider             string
			Kinds, Events, Bytes *int64
		}
	}
	testio.JSON(t, b, &got)
	if got.Events != nil || got.Read <= 0 || len(got.Providers) == 0 {
		t.Errorf("got %s", b)
	}
	for _, p := range got.Processes {
		if p.Events != nil {
			t.Errorf("got %s", b)
		}
	}
	for _, p := range got.Providers {
		if p.Kinds != nil || p.Events != nil || p.Bytes != nil {
			t.Errorf("got %s", b)
		}
		if cells := s.providers[0].cells(); cells[0]+cells[1]+cells[2] != "" {
			t.Errorf("cells %q", cells)
		}
	}
	var o show.Output
	cmd.SetOut(new(bytes.Buffer))
	o.Format = show.FormatText
	var text bytes.Buffer
	cmd.SetOut(&text)
	p := o.Open(cmd, false)
	if err := s.text(p); err != nil {
		t.Fatal(err)
	}
	p.Flush()
	if !strings.Contains(text.String(), "not counted") || strings.Contains(text.String(), "ended cleanly") {
		t.Errorf("got %s", text.String())
	}
}

// TestInfoOfAPart: of a part that was cut out of a trace info says in which time it was asked
// for, beside the duration, to which belongs what it takes to understand it.
func TestInfoOfAPart(t *testing.T) {
	process, any := etw.MustParseGUID("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c"), etw.GUID{1}
	for cut, want := range map[bool]string{true: "10 events, from 1000.000 ms to 1009.000 ms", false: ""} {
		header := etltest.DefaultHeader()
		var records []*etw.Record
		for i := range 4000 { // one each ms
			r := &etw.Record{Timestamp: header.Clock.Origin + int64(i)*10_000, PointerSize: etw.Ptr64, Payload: make([]byte, 40)}
			if i >= 1000 && i < 1010 || !cut && i%10 == 0 {
				r.Provider = any
			} else {
				r.Kind, r.Provider, r.Opcode, r.Version = etw.KindClassic, process, 1, 4
			}
			records = append(records, r)
		}
		data := testio.Encoded(t, etltest.File, header, records...)
		path := filepath.Join(t.TempDir(), "part.etl")
		testio.Write(t, path, data)
		files, err := trace.OpenFiles(path)
		if err != nil {
			t.Fatal(err)
		}
		defer files[0].Close()
		s, cmd := newSurvey(files[0]), NewInfo()
		cmd.SetContext(t.Context())
		if err := s.read(cmd); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range s.gapFacts() {
			got += f.Text
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("cut %t: %q, want %q", cut, got, want)
		}
	}
}
