package nettrace_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// workloadEvents has the events that the workload in tests/recorded logs through its event
// sources, as .NET Core 3.1 describes it: opcode, whether there are activities, the event.
// In brackets is the number of bytes that the description misses.
//
// Three events show where the descriptions of that version are wrong: an enum of
// a byte is declared as a byte and written as four; a decimal is declared as a
// decimal and written as a double; arrays are not declared at all.
var workloadEvents = []string{
	"0 - Integers flag=true u8=254 i8=-2 i16=-30000 u16=60000 i32=-2000000000 u32=4000000000 i64=-9000000000000000000 u64=18000000000000000000",
	"0 - Integers flag=false u8=0 i8=0 i16=0 u16=0 i32=0 u32=0 i64=0 u64=0",
	"0 - Others f32=1.5 f64=-2.25e-300 letter=世 when=2020-02-29T12:34:56.7890000Z id=00112233-4455-6677-8899-aabbccddeeff pointer=78187493520 colour=200 rights=1099511627777",
	"0 - Text text=plain",
	`0 - Text text=""`,
	`0 - Text text=""`,
	`0 - Text text="café 世界 😀 ` + "\ufffd" + ` lone"`,
	"0 - Bytes [23]",
	"0 - Bytes [18]",
	"1 a RequestStart number=1",
	"1 a RequestStart number=2",
	"0 ar Hop number=3",
	"2 a RequestStop number=2",
	"2 - RequestStop number=1",
	"0 - Empty",
	"0 - Numbers [32]",
	"0 - Pair number=1 field1={Word=in Small=-5}",
	"0 - Undeclared Name=anonymous Count=3 Ratio=0.5",
	"0 - Money Amount=-1.234567890123457e+19 Letter=q Small=-1",
	"0 - Nested First=1 Middle={Word=in Small=-5} Last=2.5",
	"0 - Arrays [18]",
	"0 - Nothing",
}

func TestRecordedEventSource(t *testing.T) {
	for _, ext := range []string{"nettrace", "netperf"} {
		r := testio.Open(t, nettrace.Open, filepath.Join("../../tests/recorded/eventsource."+ext))
		defer r.Close()
		want := slices.Clone(workloadEvents)
		if ext == "netperf" {
			// It was recorded without activities.
			for i := range want {
				want[i] = strings.NewReplacer(" a ", " - ", " ar ", " r ").Replace(want[i])
			}
		}
		var d etw.Dynamic
		var got []string
		for rec := range testio.Records(t, r.Records()) {
			if !strings.HasPrefix(rec.ProviderName, "Etwgen-") {
				continue
			}
			activities := ""
			if !rec.ActivityID.IsZero() {
				activities = "a"
			}
			if !rec.RelatedActivityID.IsZero() {
				activities += "r"
			}
			if activities == "" {
				activities = "-"
			}
			d.DecodeLoose(rec.Schema, rec.Payload, rec.PointerSize)
			line := fmt.Sprintf("%d %s %s", rec.Opcode, activities, etw.AppendText(nil, &d))
			if n := len(d.Rest()); n > 0 {
				line += fmt.Sprintf(" [%d]", n)
			}
			got = append(got, line)
			if rec.Stack.Len() == 0 {
				t.Errorf("%s: no stack", line)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d events, want %d", ext, len(got), len(want))
		}
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Errorf("%s: event %d: got\n%s\nwant\n%s", ext, i, got[i], want[i])
			}
		}
	}
}

// TestRecordedSize keeps the recorded traces small.
func TestRecordedSize(t *testing.T) {
	total := int64(0)
	for _, file := range recorded(t) {
		total += fileSize(t, file)
	}
	if total > 1<<20 {
		t.Errorf("the recorded traces have %d bytes", total)
	}
}
