package look

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/command"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestTextFits prints an event on terminals of several widths: the names keep
// their ends, and columns that carry nothing are left out.
func TestTextFits(t *testing.T) {
	s := &pick.Shot{
		Record: &etw.Record{Clock: &etw.Clock{}, ProcessID: 1234, ThreadID: 5, File: "a-trace-with-a-long-name.etl", Processor: -1},
		Event:  &etw.EventInfo{Provider: "Microsoft-Windows-DotNETRuntime", Name: "GCStart_V2"}, Process: "service.exe", Thread: "worker",
	}
	for width, want := range map[int]string{
		0:   "Microsoft-Windows-DotNETRuntime/GCStart_V2",
		160: "Microsoft-Windows-DotNETRuntime/GCStart_V2",
		100: "clr/GCStart_V2",
		60:  "clr/GCStart_V2",
	} {
		w := &textWriter{printer: &show.Printer{Width: width}, time: timeRelative, width: 42, brief: 14}
		head := string(w.begin(nil))
		line := string(w.append(nil, s))
		if !strings.HasSuffix(line, "  "+want+"\n") || strings.Contains(head, "CPU") {
			t.Errorf("%d columns: %q under %q", width, line, head)
		}
	}
	w := &textWriter{printer: &show.Printer{}, time: timeRelative, width: 42, file: true, process: true, thread: true, cpu: true, id: true, owner: pick.MostOwner}
	if head := string(w.begin(nil)); !strings.Contains(head, "MS  FILE                PROCESS                   THREAD                   CPU     ID  EVENT") {
		t.Errorf("heading %q", head)
	}
	if line := string(w.append(nil, s)); !strings.Contains(line, "  a-trace-w…name.etl  service.exe(1234)         worker(5)                 -1      0  Microsoft") {
		t.Errorf("line %q", line)
	}
	s.Kind = etw.KindClassic
	if line := string(w.append(nil, s)); !strings.Contains(line, " -1         Microsoft") {
		t.Errorf("line %q of an event without a number", line)
	}
	// A provider without an alias.
	s.Event = &etw.EventInfo{Index: 2, Provider: "Microsoft-Windows-Kernel-Process", Name: "ProcessStart"}
	w = &textWriter{printer: &show.Printer{Width: 80}, time: timeRelative, width: 45, brief: 45}
	w.begin(nil)
	if line := string(w.append(nil, s)); !strings.HasSuffix(line, "  Micro…ocess/ProcessStart\n") {
		t.Errorf("line %q", line)
	}
	// An event whose name alone is too long.
	s.Event = &etw.EventInfo{Index: 1, Provider: "P", Name: strings.Repeat("long", 20)}
	w = &textWriter{printer: &show.Printer{Width: 80}, time: timeRelative, width: 42}
	w.begin(nil)
	if line := string(w.append(nil, s)); show.TextWidth(line) > 80 || !strings.Contains(line, "…") {
		t.Errorf("line %q", line)
	}
}

// textShot prints one event as text.
func textShot(p *show.Printer, s *pick.Shot) string {
	w := &textWriter{printer: p, time: timeRelative, width: pick.StreamName, cpu: true}
	w.begin(nil)
	return string(w.append(nil, s))
}

// TestColors checks that colours do not move columns, and that only a terminal
// gets them.
func TestColors(t *testing.T) {
	if cli.WantsColor(new(bytes.Buffer)) {
		t.Error("colours for a buffer")
	}
	for level, color := range map[etw.Level]string{1: show.ColorRed, 2: show.ColorRed, 3: show.ColorYellow, 4: show.ColorBold, 5: show.ColorDim} {
		s := &pick.Shot{
			Record: &etw.Record{Clock: &etw.Clock{}, Payload: []byte{1}, Level: level},
			Event:  &etw.EventInfo{Provider: "Acme", Name: "Made", Note: "a note"},
			Rest:   []byte{1},
		}
		want, got := textShot(&show.Printer{}, s), textShot(&show.Printer{Color: true}, s)
		if !strings.Contains(got, color+"Acme/Made"+show.ColorEnd) || !strings.Contains(got, show.ColorRed+"[a note]"+show.ColorEnd) {
			t.Errorf("level %d has not its colours in %q", level, got)
		}
		for _, code := range []string{color, show.ColorRed, show.ColorEnd} {
			if strings.Contains(want, code) {
				t.Errorf("%q in %q", code, want)
			}
			got = strings.ReplaceAll(got, code, "")
		}
		if got != want {
			t.Errorf("%q without colours, want %q", got, want)
		}
	}
}

// hostileShot is an event whose names have everything that could end a line or
// control a terminal.
func hostileShot() *pick.Shot {
	d := new(etw.Dynamic)
	desc := &etw.EventDesc{Name: "E", Fields: []etw.FieldDesc{
		{Name: "F\n\x1b[31m", Type: etw.InUInt8}, {Name: "\u009b1m", Type: etw.InUInt8}, {Name: "\u202eG", Type: etw.InUInt8},
		{Name: "Twin", Type: etw.InUInt8}, {Name: "Twin", Type: etw.InUInt8}, {Name: "Text", Type: etw.InUnicodeString},
	}}
	payload := append([]byte{1, 2, 3, 4, 5}, etw.AppendUTF16(nil, "=cmd\u202e\u009b\u200b\x1b\u3164")...)
	_, err := d.DecodeLoose(desc, payload, etw.Ptr64)
	return &pick.Shot{
		Record: &etw.Record{Clock: &etw.Clock{}, File: "f\u202e"},
		Event:  &etw.EventInfo{Provider: "A\nB\u202e", Name: "C\x1b[31mD\u200b", Note: "n\u2066"},
		Values: d, Err: err, Process: "p\u202e", Thread: "t\u009b",
	}
}

// TestHostileNames prints names and texts that could end a line or control a
// terminal, in every format.
func TestHostileNames(t *testing.T) {
	s := hostileShot()
	line := textShot(&show.Printer{}, s)
	if !strings.Contains(line, `A\nB\u202e/C\x1b[31mD\u200b`) || !strings.Contains(line, `F\n\x1b[31m=1`) || !strings.Contains(line, `\u202eG=3`) {
		t.Errorf("%q lacks its names", line)
	}
	j := &jsonWriter{list: show.JsonList{Lines: true}, file: true}
	object := string(j.append(nil, s))
	if !strings.Contains(object, `"Twin":4,"Twin_4":5,`) || !json.Valid([]byte(object)) {
		t.Errorf("%s does not tell equal names apart", object)
	}
	c := &columnWriter{before: headColumns, fields: fieldKeys(s.Values.EventDesc().Fields)}
	row := string(c.append(nil, s))
	if !strings.Contains(row, ",4,5,'=cmd") {
		t.Errorf("%q has a formula", row)
	}
	m := &columnWriter{markdown: true, before: headColumns, fields: c.fields}
	for format, text := range map[string]string{
		"text": line, "json": object, "csv": row, "csv heading": string(c.begin(nil)), "markdown": string(m.append(nil, s)),
	} {
		if n := strings.Count(text, "\n"); n != 1 {
			t.Errorf("%s: %d lines: %q", format, n, text)
		}
		if i := strings.IndexFunc(strings.TrimSuffix(text, "\n"), command.IsUnclean); i >= 0 {
			t.Errorf("%s: %q has an unclean character at %d", format, text, i)
		}
	}
}
