package eventsource_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/ecma335/ecma335test"
	"github.com/etwgen/etwgen/manifest/eventsource"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/google/go-cmp/cmp"
)

// lines describes the events of a source, one a line.
func lines(s *eventsource.Source) []string {
	var all []string
	for _, e := range s.Events {
		var fields []string
		for _, f := range e.Fields {
			fields = append(fields, strings.TrimSpace(f.Name+" "+f.InType+" "+f.Map))
		}
		all = append(all, fmt.Sprintf("%d %s %s opcode %d keywords %#x (%s) %s", e.ID, e.Name, s.Tasks[e.Task], e.Opcode, e.Mask, strings.Join(fields, ", "), e.Written))
	}
	return all
}

// TestShop reads a class that has something of everything.
func TestShop(t *testing.T) {
	for _, accidents := range []bool{false, true} {
		sources, err := eventsource.Read("Shop.dll", ecma335test.Shop(), eventsource.Options{Accidents: accidents})
		if err != nil || len(sources) != 1 {
			t.Fatal(sources, err)
		}
		s := sources[0]
		if s.Class != "Shop.Orders" || s.Name != "Shop-Orders" || s.GUID.String() != "4c78f197-ff47-5af0-ee0a-1beff266ec9d" || s.SelfDescribing {
			t.Errorf("%s %s %s self-describing %t", s.Class, s.Name, s.GUID, s.SelfDescribing)
		}
		want := []string{
			"0 EventSourceMessage EventSourceMessage opcode 0 keywords 0x0 (message win:UnicodeString) ",
			"1 Placed Placed opcode 0 keywords 0x4 (item win:UnicodeString, price win:Int32) ",
			"2 Weighed Weighed opcode 0 keywords 0x0 (grams win:UInt8, at win:Int64) grams=win:Int64 at",
			"3 Sorted Sorted opcode 0 keywords 0x0 (size win:UInt8 Size) size=win:UInt32",
			"4 ShipStart Ship opcode 1 keywords 0x0 () ",
			"5 ShipStop Ship opcode 2 keywords 0x0 () ",
		}
		notes := 1
		if accidents {
			want = append(want, "6 set_Level set_Level opcode 0 keywords 0x0 (value win:Int32) ")
			notes = 0
		}
		if diff := cmp.Diff(want, lines(s)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if len(s.Notes) != notes || len(s.Warnings) > 0 || len(s.Complaints) > 0 || s.Dead != "" {
			t.Errorf("notes %q, warnings %q, complaints %q, dead %q", s.Notes, s.Warnings, s.Complaints, s.Dead)
		}
	}
}

// TestOptions replaces the facts of the code, and chooses classes.
func TestOptions(t *testing.T) {
	data := ecma335test.Shop()
	sources, err := eventsource.Read("Shop.dll", data, eventsource.Options{Class: "Orders", Name: "Other", SelfDescribing: true})
	if err != nil {
		t.Fatal(err)
	}
	text := string(eventsource.AppendXML(nil, "a -- comment-", sources...))
	for _, want := range []string{`<!-- a - - comment -->`, `name="Other"`, `etwgen:events="self-describing"`, `etwgen:fields="grams=win:Int64 at"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if _, err := eventsource.Read("Shop.dll", data, eventsource.Options{Class: "Absent"}); err != eventsource.ErrNoSource {
		t.Errorf("an absent class: %v", err)
	}
	if s, err := eventsource.Read("Shop.dll", data, eventsource.Options{Semantics: eventsource.None}); err != nil || s[0].Name != "Ignored" {
		t.Errorf("the attribute's name: %v %v", s, err)
	}
}

// wellFormed checks that text is XML.
func wellFormed(t *testing.T, text []byte) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(text)))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("no XML: %v\n%s", err, text)
		}
	}
}

// TestDamage changes bytes of an assembly, and cuts it off: the readable part still makes
// XML.
func TestDamage(t *testing.T) {
	whole := ecma335test.Shop()
	rnd := rand.New(rand.NewPCG(1, 2))
	readable := 0
	const rounds = 4000
	for i := range rounds {
		data := slices.Clone(whole)
		for range 1 + rnd.IntN(4) {
			data[rnd.IntN(len(data))] = byte(rnd.UintN(256))
		}
		if i%8 == 0 {
			data = data[:rnd.IntN(len(data))]
		}
		sources, err := eventsource.Read("Shop.dll", data, eventsource.Options{})
		if err == nil {
			readable++
			wellFormed(t, eventsource.AppendXML(nil, "", sources...))
		}
	}
	t.Logf("%d of %d can be read", readable, rounds)
}

func FuzzRead(f *testing.F) {
	f.Add(ecma335test.Shop())
	if dir := os.Getenv("ETWGEN_CORPUS"); dir != "" {
		if data, err := os.ReadFile(corpus.File(f, "eventsource", "localized", "loc.dll")); err == nil {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, semantics := range []eventsource.Semantics{eventsource.Live, eventsource.Strict} {
			sources, err := eventsource.Read("Fuzz.dll", data, eventsource.Options{Semantics: semantics})
			if err == nil {
				wellFormed(t, eventsource.AppendXML(nil, "", sources...))
			}
		}
	})
}
