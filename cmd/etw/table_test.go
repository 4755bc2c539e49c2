package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/command"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/google/go-cmp/cmp"
)

// printTable returns a table in a format, fitted to a width.
func printTable(t *testing.T, tab *table, format string, width int) string {
	t.Helper()
	var b bytes.Buffer
	p := &printer{Writer: bufio.NewWriter(&b), format: format, width: width}
	if err := p.close(tab.write(p)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func exampleTable() *table {
	tab := newTable(num("n"), word("longName"), num("share").forPeople(), word("guid").forPrograms(), word("rest"))
	tab.add("1", "é", "5%", "a-b", "first")
	tab.add("1000", "世界\u202e", "95%", "=1", "with | and\n")
	tab.add("", "Microsoft-Windows-DotNETRuntime", "", "", "")
	return tab
}

func TestTableText(t *testing.T) {
	for width, want := range map[int]string{
		0: "   N  LONG NAME                        SHARE  REST\n" +
			"   1  é                                   5%  first\n" +
			"1000  世界\\u202e                         95%  with | and\\n\n" +
			"      Microsoft-Windows-DotNETRuntime\n",
		40: "   N  LONG NAME      SHARE  REST\n" +
			"   1  é                 5%  first\n" +
			"1000  世界\\u202e       95%  with | and\\n\n" +
			"      Micros…untime\n",
		// What does not fit goes on in further lines, of which empty ones are left out.
		20: "   N  LONG NAME\n      SHARE\n      REST\n" +
			"   1  é\n         5%\n      first\n" +
			"1000  世界\\u202e\n        95%\n      with | and\\n\n" +
			"      Microso…untime\n",
	} {
		if diff := cmp.Diff(want, printTable(t, exampleTable(), formatText, width)); diff != "" {
			t.Errorf("%d columns (-want +got):\n%s", width, diff)
		}
	}
}

// TestTableNarrow prints a table with columns that can be spared on terminals of
// several widths.
func TestTableNarrow(t *testing.T) {
	for width, want := range map[int]string{
		0:  "A  BBBBBB  CCCCCC  D\n1       2       3  name\n",
		23: "A  BBBBBB  CCCCCC  D\n1       2       3  name\n",
		22: "A  BBBBBB  D\n1       2  name\n",
		14: "A  D\n1  name\n",
		2:  "A\n   D\n1\n   name\n",
	} {
		table := newTable(num("a"), num("bbbbbb").spared(1), num("cccccc").spared(2), word("d"))
		table.small = true
		table.add("1", "2", "3", "name")
		if diff := cmp.Diff(want, printTable(t, table, formatText, width)); diff != "" {
			t.Errorf("%d columns (-want +got):\n%s", width, diff)
		}
	}
}

// TestTableAsked keeps a column that can be spared and was asked for.
func TestTableAsked(t *testing.T) {
	table := newTable(num("a"), num("bbbbbb").spared(1), num("cccccc").spared(2), word("d"))
	table.add("1", "2", "3", "name")
	(&ranking{sort: "cccccc"}).apply(table, true)
	want := "A  CCCCCC  D\n1       3  name\nleft out, for want\n  of room: BBBBBB;\n  --wide shows all\n"
	if diff := cmp.Diff(want, printTable(t, table, formatText, 18)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTableFormats(t *testing.T) {
	for format, want := range map[string]string{
		formatMD: "| n | longName | share | rest |\n|--:|---|--:|---|\n" +
			"| 1 | é | 5% | first |\n| 1000 | 世界\\\\u202e | 95% | with \\| and\\\\n |\n|  | Microsoft-Windows-DotNETRuntime |  |  |\n",
		formatCSV: "n,longName,guid,rest\n1,é,a-b,first\n1000,世界\\u202e,'=1,with | and\\n\n,Microsoft-Windows-DotNETRuntime,,\n",
		formatJSONL: `{"n":1,"longName":"é","guid":"a-b","rest":"first"}` + "\n" +
			`{"n":1000,"longName":"世界\u202e","guid":"=1","rest":"with | and\n"}` + "\n" +
			`{"n":null,"longName":"Microsoft-Windows-DotNETRuntime","guid":"","rest":""}` + "\n",
	} {
		if diff := cmp.Diff(want, printTable(t, exampleTable(), format, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
	var doc struct{ Rows []map[string]any }
	if err := json.Unmarshal([]byte(printTable(t, exampleTable(), formatJSON, 0)), &doc); err != nil || len(doc.Rows) != 3 {
		t.Errorf("%d rows of JSON, %v", len(doc.Rows), err)
	}
	if got := printTable(t, newTable(num("n")), formatJSON, 0); got != `{"schema":1,"rows":[],`+"\n"+`"warnings":[],"trace":null,"next":[]}`+"\n" {
		t.Errorf("no rows are %q", got)
	}
}

func TestCells(t *testing.T) {
	cells := []string{"", "plain", "a,b", `"`, `say "hi", "you"`, "two\nlines", "\r", `x"`, "=1+1", "-5", "@a", "\x1b[31m", "\u202e"}
	want := []string{"", "plain", "a,b", `"`, `say "hi", "you"`, `two\nlines`, `\r`, `x"`, "'=1+1", "'-5", "'@a", `\x1b[31m`, `\u202e`}
	for _, raw := range []bool{false, true} {
		var b []byte
		for i, c := range cells {
			b = csvStyle{raw: raw}.cell(b, i > 0, []byte(c), false)
		}
		got, err := csv.NewReader(bytes.NewReader(append(b, '\n'))).Read()
		if err != nil {
			t.Fatal(err)
		}
		if raw {
			want = cells
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("raw %v (-want +got):\n%s", raw, diff)
		}
		want = want[:len(want):len(want)]
	}
	if got := string(csvStyle{}.cell(nil, true, []byte("-5"), true)); got != ",-5" {
		t.Errorf("a number is %q", got)
	}
}

func TestWidths(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "é": 1, "e\u0301": 1, "世界": 4, "שלום": 4, "ｆ": 2, "😀": 2, "한글": 4} {
		if got := textWidth(s); got != want {
			t.Errorf("%q is %d wide, want %d", s, got, want)
		}
	}
	for _, c := range []struct {
		s     string
		width int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcdef", 5, "ab…ef"}, {"abcdef", 4, "ab…f"}, {"世界世界", 5, "世…界"}, {"世界世界", 4, "世…"},
		{"abc", 1, "…"}, {"abc", 0, ""}, {"", 0, ""},
	} {
		if got := shorten(c.s, c.width); got != c.want || textWidth(got) > c.width {
			t.Errorf("%q in %d: %q, want %q", c.s, c.width, got, c.want)
		}
	}
}

func TestClean(t *testing.T) {
	for s, want := range map[string]string{
		"":                 "",
		`C:\a "b"`:         `C:\a "b"`,
		"é 世界 שלום":        "é 世界 שלום",
		"a\tb\r\n":         `a\tb\r\n`,
		"\x1b[31m":         `\x1b[31m`,
		"\u009b":           `\u009b`,
		"\xff":             `\ufffd`,
		"\u202e backwards": `\u202e backwards`,
		"a\u200bb":         `a\u200bb`,
		"\u3164":           `\u3164`,
		"\U000e0101":       `\U000e0101`,
	} {
		if got := clean(s); got != want {
			t.Errorf("%q becomes %q, want %q", s, got, want)
		}
		if got := string(cleanFrom([]byte("\x1b"+s), 1)); got != "\x1b"+want {
			t.Errorf("%q becomes %q from 1 on, want %q", s, got, want)
		}
	}
	// JSON stays what it says.
	for _, s := range []string{"plain", "\u202e", "é\u009b\u3164", "\U000e0101", `"\`} {
		in, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		safe := appendSafeJSON(nil, in)
		var got string
		if err := json.Unmarshal(safe, &got); err != nil || got != s || strings.IndexFunc(string(safe), command.IsUnclean) >= 0 {
			t.Errorf("%q becomes %s, which is %q (%v)", s, safe, got, err)
		}
	}
}

// textShot prints one event as text.
func textShot(p *printer, s *shot) string {
	w := &textWriter{printer: p, time: timeRelative, width: streamName, cpu: true}
	w.begin(nil)
	return string(w.append(nil, s))
}

// TestColors checks that colours do not move columns, and that only a terminal
// gets them.
func TestColors(t *testing.T) {
	if wantsColor(new(bytes.Buffer)) {
		t.Error("colours for a buffer")
	}
	for level, color := range map[etw.Level]string{1: colorRed, 2: colorRed, 3: colorYellow, 4: colorBold, 5: colorDim} {
		s := &shot{
			Record: &etw.Record{Clock: &etw.Clock{}, Payload: []byte{1}, Level: level},
			event:  &etw.EventInfo{Provider: "Acme", Name: "Made", Note: "a note"},
			rest:   []byte{1},
		}
		want, got := textShot(&printer{}, s), textShot(&printer{color: true}, s)
		if !strings.Contains(got, color+"Acme/Made"+colorEnd) || !strings.Contains(got, colorRed+"[a note]"+colorEnd) {
			t.Errorf("level %d has not its colours in %q", level, got)
		}
		for _, code := range []string{color, colorRed, colorEnd} {
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
func hostileShot() *shot {
	d := new(etw.Dynamic)
	desc := &etw.EventDesc{Name: "E", Fields: []etw.FieldDesc{
		{Name: "F\n\x1b[31m", Type: etw.InUInt8}, {Name: "\u009b1m", Type: etw.InUInt8}, {Name: "\u202eG", Type: etw.InUInt8},
		{Name: "Twin", Type: etw.InUInt8}, {Name: "Twin", Type: etw.InUInt8}, {Name: "Text", Type: etw.InUnicodeString},
	}}
	payload := append([]byte{1, 2, 3, 4, 5}, etw.AppendUTF16(nil, "=cmd\u202e\u009b\u200b\x1b\u3164")...)
	_, err := d.DecodeLoose(desc, payload, etw.Ptr64)
	return &shot{
		Record: &etw.Record{Clock: &etw.Clock{}, File: "f\u202e"},
		event:  &etw.EventInfo{Provider: "A\nB\u202e", Name: "C\x1b[31mD\u200b", Note: "n\u2066"},
		values: d, err: err, process: "p\u202e", thread: "t\u009b",
	}
}

// TestHostileNames prints names and texts that could end a line or control a
// terminal, in every format.
func TestHostileNames(t *testing.T) {
	s := hostileShot()
	line := textShot(&printer{}, s)
	if !strings.Contains(line, `A\nB\u202e/C\x1b[31mD\u200b`) || !strings.Contains(line, `F\n\x1b[31m=1`) || !strings.Contains(line, `\u202eG=3`) {
		t.Errorf("%q lacks its names", line)
	}
	j := &jsonWriter{list: jsonList{lines: true}, file: true}
	object := string(j.append(nil, s))
	if !strings.Contains(object, `"Twin":4,"Twin_4":5,`) || !json.Valid([]byte(object)) {
		t.Errorf("%s does not tell equal names apart", object)
	}
	c := &columnWriter{before: headColumns, fields: fieldKeys(s.values.EventDesc().Fields)}
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
