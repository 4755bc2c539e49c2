package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/evtx"
	"github.com/etwgen/etwgen/tests/corpus"
)

// An xmlEvent is an event as tracerpt writes it.
type xmlEvent struct {
	XMLName xml.Name `xml:"http://schemas.microsoft.com/win/2004/08/events/event Event"`
	System  struct {
		Provider struct {
			Name string `xml:",attr"`
			GUID string `xml:"Guid,attr"`
		}
		EventID, Version, Level, Task, Opcode int
		Keywords                              string
		TimeCreated                           struct {
			SystemTime string `xml:",attr"`
		}
		Correlation struct {
			ActivityID        string `xml:",attr"`
			RelatedActivityID string `xml:",attr"`
		}
		Execution struct {
			ProcessID   uint64 `xml:",attr"`
			ThreadID    uint64 `xml:",attr"`
			ProcessorID *int   `xml:",attr"`
		}
	}
	Data    xmlFields `xml:"EventData"`
	Payload *string   `xml:"ProcessingErrorData>EventPayload"`
	Name    string    `xml:"RenderingInfo>EventName"`
	Class   string    `xml:"ExtendedTracingInfo>EventGuid"`
}

// xmlFields are the path and the text of each value in EventData.
type xmlFields struct{ lines []string }

// flat decodes the elements with fields, from the begin of EventData to its end.
func flat(d *xml.Decoder, path string) (list []string, err error) {
	for {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		switch e := token.(type) {
		case xml.EndElement:
			return list, nil
		case xml.StartElement:
			name := path + "/" + e.Attr[0].Value
			if len(e.Attr) != 1 || e.Attr[0].Name.Local != "Name" || e.Name.Local != "Data" && e.Name.Local != "ComplexData" {
				return nil, fmt.Errorf("element %v", e)
			}
			if e.Name.Local == "ComplexData" {
				inner, err := flat(d, name)
				if err != nil {
					return nil, err
				}
				list = append(list, inner...)
				continue
			}
			var text string
			if err := d.DecodeElement(&text, &e); err != nil {
				return nil, err
			}
			list = append(list, name+"="+text)
		}
	}
}

// UnmarshalXML keeps the values of EventData in order.
func (x *xmlFields) UnmarshalXML(d *xml.Decoder, _ xml.StartElement) (err error) {
	x.lines, err = flat(d, "")
	return err
}

// flatJSON appends the same of a value of JSON.
func flatJSON(list []string, path string, d *json.Decoder) []string {
	token, err := d.Token()
	if err != nil {
		panic(err)
	}
	switch v := token.(type) {
	case json.Delim:
		for d.More() {
			name := path
			if v == '{' {
				key, _ := d.Token()
				name = path + "/" + inXML(key.(string))
			}
			list = flatJSON(list, name, d)
		}
		d.Token()
		return list
	case string:
		return append(list, path+"="+inXML(v))
	}
	return append(list, fmt.Sprint(path, "=", token))
}

// inXML returns a text without the characters that XML does not have.
func inXML(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '\t' || c == '\n' || c == '\r' || c >= ' ' && c != 0xfffe && c != 0xffff {
			return c
		}
		return 0xfffd
	}, s)
}

// TestXML: of each recorded trace, and of those that tests make, XML is well-formed, and has
// the header and the fields of each event that JSON has.
func TestXML(t *testing.T) {
	var paths []string
	for _, pattern := range []string{"*.nettrace", "*.netperf", "*.etl", "answers/*.nettrace*"} {
		list, err := filepath.Glob(filepath.Join("..", "..", "tests", "recorded", pattern))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, list...)
	}
	for name, make := range traces {
		if data, err := make(); err != nil {
			t.Error(err)
		} else if !strings.Contains(name, ".") {
			path := filepath.Join(t.TempDir(), name)
			testio.Write(t, path, data)
			paths = append(paths, path)
		}
	}
	if len(paths) < 40 {
		t.Fatalf("only %d traces", len(paths))
	}
	events, undecoded := 0, 0
	for _, path := range corpus.Share(paths, 30) {
		n, bytes := sameInXML(t, path)
		events, undecoded = events+n, undecoded+bytes
	}
	if events < 3000 || undecoded == 0 {
		t.Errorf("%d events, %d of them not decoded", events, undecoded)
	}
	for _, flag := range []string{"--stacks", "--raw-stacks", "--payload"} {
		if _, errs, code := output("dump --format xml", flag, paths[0]); code != cli.ExitUsage || !strings.Contains(errs, "has no place for") {
			t.Errorf("%s: %d, %s", flag, code, errs)
		}
	}
}

// TestXMLOfCorpus is the same for traces of others.
func TestXMLOfCorpus(t *testing.T) {
	for _, path := range append(corpus.Glob(t, "etl", "*.etl"), corpus.Glob(t, "nettrace", "*.net*")...) {
		if info, err := os.Stat(path); err != nil || strings.HasSuffix(path, ".txt") || info.Size() > 1<<20 && (testing.Short() || !corpus.All()) {
			continue
		}
		sameInXML(t, path)
	}
}

// sameInXML holds each of the first events of a trace in XML against that in JSON, and returns
// how many there are, and of how many not all was decoded.
func sameInXML(t *testing.T, path string) (events, undecoded int) {
	t.Helper()
	asJSON, _, want := output("dump --limit 20000 --format jsonl", path)
	asXML, errs, got := output("dump --limit 20000 --format xml", path)
	if got != want {
		t.Fatalf("%s: exit code %d, as JSON %d: %s", path, got, want, errs)
	}
	objects, elements := json.NewDecoder(strings.NewReader(asJSON)), xml.NewDecoder(strings.NewReader(asXML))
	if token, err := elements.Token(); err != nil || token.(xml.ProcInst).Target != "xml" {
		t.Fatalf("%s: %v, %v", path, token, err)
	}
	for ; ; events++ {
		var object map[string]json.RawMessage
		if err := objects.Decode(&object); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		event, err := nextElement(elements)
		if err != nil {
			t.Fatalf("%s: event %d: %v", path, events, err)
		}
		if want, got := ofJSON(object), ofXML(event); !slices.Equal(want, got) {
			t.Fatalf("%s: event %d (-json +xml):\n%s", path, events, cmp.Diff(want, got))
		}
		if event.Payload != nil {
			undecoded++
		}
	}
	if event, err := nextElement(elements); err != io.EOF {
		t.Errorf("%s: there is more: %v, %v", path, event, err)
	}
	return events, undecoded
}

// nextElement returns the next event of a document, or [io.EOF] after its end.
func nextElement(d *xml.Decoder) (*xmlEvent, error) {
	for {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "Event" {
			e := new(xmlEvent)
			return e, d.DecodeElement(e, &start)
		}
	}
}

// ofXML lists the contents of an event.
func ofXML(e *xmlEvent) []string {
	s := &e.System
	cpu := "-1"
	if s.Execution.ProcessorID != nil {
		cpu = strconv.Itoa(*s.Execution.ProcessorID)
	}
	list := []string{s.Provider.Name, s.Provider.GUID, e.Name, fmt.Sprint(s.EventID, s.Version, s.Level, s.Task, s.Opcode), s.Keywords,
		s.TimeCreated.SystemTime, s.Correlation.ActivityID, s.Correlation.RelatedActivityID, fmt.Sprint(s.Execution.ProcessID, s.Execution.ThreadID), cpu}
	if e.Class != "" && e.Class != s.Provider.GUID {
		list = append(list, "class "+e.Class)
	}
	if e.Payload != nil {
		list = append(list, "payload "+*e.Payload)
	}
	return append(list, e.Data.lines...)
}

// ofJSON lists the same.
func ofJSON(o map[string]json.RawMessage) []string {
	text := func(key string) (s string) {
		json.Unmarshal(o[key], &s)
		return inXML(s)
	}
	guid := func(key string) string {
		if g := text(key); g != "" && g != (etw.GUID{}).String() {
			return "{" + g + "}"
		}
		return ""
	}
	number := func(key string) (n int64) {
		json.Unmarshal(o[key], &n)
		return n
	}
	id := func(key string) uint64 {
		if n := number(key); n >= 0 {
			return uint64(n)
		}
		return 1<<32 - 1
	}
	list := []string{text("provider"), guid("guid"), text("event"), fmt.Sprint(number("id"), number("version"), number("level"), number("task"), number("opcode")), text("keywords"),
		strings.TrimSuffix(text("time"), "Z") + "00Z", guid("activity"), guid("related"), fmt.Sprint(id("pid"), id("tid")), fmt.Sprint(number("cpu"))}
	if _, ok := o["payload"]; ok {
		list = append(list, "payload "+strings.ToUpper(text("payload")))
	}
	d := json.NewDecoder(bytes.NewReader(o["fields"]))
	d.UseNumber()
	return flatJSON(list, "", d)
}

// TestLogXML: the XML of event logs is the one that they have, with users, data of their own form
// and all else, and not one that is made of fields, unless some are chosen.
func TestLogXML(t *testing.T) {
	users, forms := 0, 0
	for _, path := range corpus.Glob(t, "evtx", "*.evtx.gz") {
		data := testio.Unpacked(t, path)
		r, err := evtx.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		want := []byte("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Events>\n")
		for _, err := range r.Records() {
			if err != nil {
				break // of a damaged log
			}
			if want, err = r.AppendXML(want); err != nil {
				t.Fatal(err)
			}
			want = append(want, '\n')
		}
		_, got, _ := runTool("dump", "--format", "xml", path)
		if want = append(want, "</Events>\n"...); got != string(want) {
			t.Errorf("%s: %d bytes, want %d", path, len(got), len(want))
		}
		users += strings.Count(got, "<Security UserID=")
		forms += strings.Count(got, "<UserData>")
		if _, got, _ := runTool("dump", "--format", "xml", "--fields", "none", path); strings.Contains(got, "<UserData>") {
			t.Errorf("%s: fields are chosen, and all are there", path)
		}
	}
	if users == 0 || forms == 0 {
		t.Errorf("%d users, %d data of other forms", users, forms)
	}
}
