package show

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// printTable returns a table in a format, fitted to a width.
func printTable(t *testing.T, tab *Table, format string, width int) string {
	t.Helper()
	var b bytes.Buffer
	p := &Printer{Writer: bufio.NewWriter(&b), Format: format, Width: width}
	if err := p.Close(tab.Write(p)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func exampleTable() *Table {
	tab := NewTable(Num("n"), Word("longName"), Num("share").ForPeople(), Word("guid").ForPrograms(), Word("rest"))
	tab.Add("1", "é", "5%", "a-b", "first")
	tab.Add("1000", "世界\u202e", "95%", "=1", "with | and\n")
	tab.Add("", "Microsoft-Windows-DotNETRuntime", "", "", "")
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
		// Columns that do not fit go on in further lines, of which empty ones are left out.
		20: "   N  LONG NAME\n      SHARE\n      REST\n" +
			"   1  é\n         5%\n      first\n" +
			"1000  世界\\u202e\n        95%\n      with | and\\n\n" +
			"      Microso…untime\n",
	} {
		if diff := cmp.Diff(want, printTable(t, exampleTable(), FormatText, width)); diff != "" {
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
		table := NewTable(Num("a"), Num("bbbbbb").Spared(1), Num("cccccc").Spared(2), Word("d"))
		table.Small = true
		table.Add("1", "2", "3", "name")
		if diff := cmp.Diff(want, printTable(t, table, FormatText, width)); diff != "" {
			t.Errorf("%d columns (-want +got):\n%s", width, diff)
		}
	}
}

// TestTableAsked keeps a column that can be spared and was asked for.
func TestTableAsked(t *testing.T) {
	table := NewTable(Num("a"), Num("bbbbbb").Spared(1), Num("cccccc").Spared(2), Word("d"))
	table.Add("1", "2", "3", "name")
	(&Ranking{sort: "cccccc"}).Apply(table, true)
	want := "A  CCCCCC  D\n1       3  name\nleft out, for want\n  of room: BBBBBB;\n  --wide shows all\n"
	if diff := cmp.Diff(want, printTable(t, table, FormatText, 18)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTableFormats(t *testing.T) {
	for format, want := range map[string]string{
		FormatMD: "| n | longName | share | rest |\n|--:|---|--:|---|\n" +
			"| 1 | é | 5% | first |\n| 1000 | 世界\\\\u202e | 95% | with \\| and\\\\n |\n|  | Microsoft-Windows-DotNETRuntime |  |  |\n",
		FormatCSV: "n,longName,guid,rest\n1,é,a-b,first\n1000,世界\\u202e,'=1,with | and\\n\n,Microsoft-Windows-DotNETRuntime,,\n",
		FormatJSONL: `{"n":1,"longName":"é","guid":"a-b","rest":"first"}` + "\n" +
			`{"n":1000,"longName":"世界\u202e","guid":"=1","rest":"with | and\n"}` + "\n" +
			`{"n":null,"longName":"Microsoft-Windows-DotNETRuntime","guid":"","rest":""}` + "\n",
	} {
		if diff := cmp.Diff(want, printTable(t, exampleTable(), format, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
	var doc struct{ Rows []map[string]any }
	if err := json.Unmarshal([]byte(printTable(t, exampleTable(), FormatJSON, 0)), &doc); err != nil || len(doc.Rows) != 3 {
		t.Errorf("%d rows of JSON, %v", len(doc.Rows), err)
	}
	if got := printTable(t, NewTable(Num("n")), FormatJSON, 0); got != `{"schema":1,"rows":[],`+"\n"+`"warnings":[],"trace":null,"next":[]}`+"\n" {
		t.Errorf("no rows are %q", got)
	}
}

func TestCells(t *testing.T) {
	cells := []string{"", "plain", "a,b", `"`, `say "hi", "you"`, "two\nlines", "\r", `x"`, "=1+1", "-5", "@a", "\x1b[31m", "\u202e"}
	want := []string{"", "plain", "a,b", `"`, `say "hi", "you"`, `two\nlines`, `\r`, `x"`, "'=1+1", "'-5", "'@a", `\x1b[31m`, `\u202e`}
	for _, raw := range []bool{false, true} {
		var b []byte
		for i, c := range cells {
			b = CsvStyle{Raw: raw}.Cell(b, i > 0, []byte(c), false)
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
	if got := string(CsvStyle{}.Cell(nil, true, []byte("-5"), true)); got != ",-5" {
		t.Errorf("a number is %q", got)
	}
}

func TestWidths(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "é": 1, "e\u0301": 1, "世界": 4, "שלום": 4, "ｆ": 2, "😀": 2, "한글": 4} {
		if got := TextWidth(s); got != want {
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
		if got := Shorten(c.s, c.width); got != c.want || TextWidth(got) > c.width {
			t.Errorf("%q in %d: %q, want %q", c.s, c.width, got, c.want)
		}
	}
}
