package eventheader

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A leaf is a value of an event without structure, with the path to it.
type leaf struct{ path, text string }

// leaves lists the values of a document, in their order.
func leaves(t *testing.T, d *json.Decoder, path string) (list []leaf) {
	t.Helper()
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	switch token {
	case json.Delim('{'):
		for d.More() {
			key, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			name, _, _ := strings.Cut(key.(string), ";")
			list = append(list, leaves(t, d, path+"/"+name)...)
		}
	case json.Delim('['):
		for d.More() {
			list = append(list, leaves(t, d, path+"/")...)
		}
	default:
		return []leaf{{path, fmt.Sprint(token)}}
	}
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	return list
}

// documents returns the events that Microsoft's decoder lists, each as its values.
func documents(t *testing.T, path string) (list [][]leaf) {
	t.Helper()
	text := testio.Read(t, path)
	_, text, _ = bytes.Cut(text, []byte(":"))
	var events []json.RawMessage
	testio.JSON(t, bytes.TrimRight(text, "\r\n \x00"), &events)
	for _, e := range events {
		d := json.NewDecoder(bytes.NewReader(e))
		d.UseNumber()
		list = append(list, leaves(t, d, ""))
	}
	return list
}

// intercepted calls back for each event of a file of LinuxTracepoints: its size, the name of
// the tracepoint, and its bytes.
func intercepted(t *testing.T, path string, take func(name string, b []byte)) {
	t.Helper()
	file := testio.Read(t, path)
	for len(file) > 4 {
		n := binary.LittleEndian.Uint32(file)
		name, b, _ := bytes.Cut(file[4:n], []byte{0})
		take(string(name), b)
		file = file[n:]
	}
}

// Each event is that of Microsoft's decoder, but for the ways to write some values.
func TestIntercepted(t *testing.T) {
	const file = "EventHeaderInterceptorLE64.dat"
	want := documents(t, corpus.File(t, "eventheader", file+".windows.json"))
	var d Decoder
	n, values, other := 0, 0, map[string]int{}
	intercepted(t, corpus.File(t, "eventheader", file), func(name string, b []byte) {
		tp, ok := ParseName(name)
		if !ok {
			t.Fatalf("event %d: the name %q", n, name)
		}
		e, err := d.Decode(tp, b)
		if err != nil {
			t.Fatalf("event %d: %v", n, err)
		}
		got := ours(t, &e)
		w := want[n]
		n++
		for i := range max(len(got), len(w)) {
			var g, m leaf
			if i < len(got) {
				g = got[i]
			}
			if i < len(w) {
				m = w[i]
			}
			if values++; g == m || sameValue(g.text, m.text) {
				continue
			}
			if strings.HasPrefix(m.path, "/meta/tag") || m.path == "/a4/" { // an event's tag is not kept, and characters are one text
				break
			}
			if strings.TrimRight(g.path, "_0123456789") != m.path && g.path != m.path { // of several members of one name ours are numbered
				t.Errorf("event %d, %s: value %d is %s, want %s", n, e.Desc.Name, i, g, m)
				break
			}
			other[e.Desc.Name+" "+g.text+" | "+m.text]++
		}
	})
	if n != len(want) {
		t.Errorf("%d events, want %d", n, len(want))
	}
	for k := range other {
		t.Errorf("event, our value | theirs: %s", k)
	}
	t.Logf("%d events, %d values, %d in other words", n, values, len(other))
}

// sameValue reports whether two texts say the same in other words.
func sameValue(our, their string) bool {
	our, their = strings.ToLower(our), strings.ToLower(their)
	plain := strings.NewReplacer(" ", "", "\x00", "")
	_, number, _ := strings.Cut(strings.TrimSuffix(their, ")"), "(") // EPERM(1), TIME(-5)
	switch {
	case plain.Replace(our) == plain.Replace(their), our == number:
		return true
	case strings.HasPrefix(our, their) && strings.HasSuffix(our, "z"): // a time to 100 ns
		return true
	case their == "<nil>": // bytes or a text without any
		return our == ""
	case strings.HasPrefix(their, "-nan"):
		return our == "nan"
	case our == "true": // and they show numbers that are no truth
		return their != "0" && their != "false"
	case our == "1", our == "0": // of 16 bits
		return their == "true" || their == "false"
	}
	return strings.HasPrefix(our, "\ufffd") && strings.HasPrefix(their, "\ufffd") // no character
}

// ours lists the values of an event as Microsoft's decoder does.
func ours(t *testing.T, e *Event) []leaf {
	t.Helper()
	rec := &etw.Record{Provider: e.Desc.Provider.GUID, ProviderName: e.Desc.Provider.Name, ID: e.Desc.ID, Schema: e.Desc, PointerSize: etw.Ptr64, Payload: e.Payload}
	dec := etw.NewDecoder()
	v, err := dec.Decode(rec)
	if err != nil || v == nil {
		t.Fatalf("%s: %v", e.Desc.Name, err)
	}
	if rest := dec.Rest(); len(rest) > 0 {
		t.Errorf("%s: %d bytes are left", e.Desc.Name, len(rest))
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%s: %v", e.Desc.Name, err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	list := append([]leaf{{"/n", e.Desc.Provider.Name + ":" + e.Desc.Name}}, leaves(t, d, "")...)
	return append(list, meta(e)...)
}

// meta is the values of the header, as far as it has any.
func meta(e *Event) (list []leaf) {
	add := func(name, value, none string) {
		if value != none {
			list = append(list, leaf{"/meta/" + name, value})
		}
	}
	d := e.Desc
	add("id", fmt.Sprint(d.ID), "0")
	add("version", fmt.Sprint(d.Version), "0")
	add("level", fmt.Sprint(uint8(d.Level)), "")
	add("keyword", fmt.Sprintf("0x%X", d.Keywords), "0x0")
	add("opcode", fmt.Sprint(uint8(d.Opcode)), "0")
	add("activity", e.ActivityID.String(), etw.GUID{}.String())
	add("relatedActivity", e.RelatedActivityID.String(), etw.GUID{}.String())
	return list
}
