package perfdata

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A listed is an event by Microsoft's decoder.
type listed struct {
	Name string `json:"n"`
	Meta struct {
		Time                               string
		CPU, PID, TID                      int64
		ID, Version, Level, Opcode         int
		Keyword, Activity, RelatedActivity string
	}
	PrevComm string `json:"prev_comm"`
	NextPrio *int64 `json:"next_prio"`
}

// Events of programs that write EventHeader, and of the kernel beside them, are those that
// Microsoft's decoder lists: with name, time to 1 ns, processor, process and
// thread, id, version, level, keywords, opcode and activities. Their fields are held by package
// eventheader, on the same events.
func TestEventHeader(t *testing.T) {
	text := testio.Read(t, corpus.File(t, "eventheader", "perf.data.linux.json"))
	_, list, _ := strings.Cut(string(text), ":")
	var want []listed
	testio.JSON(t, []byte(strings.TrimSpace(list)), &want)
	// The file has them by processors, and records come by their time.
	slices.SortStableFunc(want, func(a, b listed) int { return strings.Compare(a.Meta.Time, b.Meta.Time) })
	r := open(t, corpus.File(t, "eventheader", "perf.data"))
	h := r.Header()
	n, headers := 0, 0
	d := etw.NewDecoder()
	for rec := range testio.Records(t, r.Records()) {
		if strings.HasPrefix(rec.ProviderName, "Universal.") {
			continue
		}
		if n == len(want) {
			t.Fatalf("more than %d events", n)
		}
		w := want[n]
		n++
		at := h.Clock.Start.Time().Add(time.Duration(rec.Timestamp - h.Clock.Origin)) // to 1 ns, where a FILETIME has 100
		got := fmt.Sprintf("%s:%s at %s on %d of %d/%d", rec.ProviderName, rec.Schema.Name, at.Format("2006-01-02T15:04:05.000000000Z"), rec.Processor, rec.ProcessID, rec.ThreadID)
		m := w.Meta
		if want := fmt.Sprintf("%s at %s on %d of %d/%d", w.Name, m.Time, m.CPU, int32(m.PID), int32(m.TID)); got != want {
			t.Errorf("event %d: %s, want %s", n, got, want)
		}
		if v, err := d.Decode(rec); v == nil || err != nil {
			t.Errorf("event %d, %s: %v", n, w.Name, err)
		} else if rest := d.Rest(); len(rest) > 7 { // padding of perf
			t.Errorf("event %d, %s: %d bytes are left", n, w.Name, len(rest))
		} else if w.NextPrio != nil {
			if text := string(etw.AppendText(nil, v)); !strings.Contains(text, fmt.Sprintf("next_prio=%d", *w.NextPrio)) || !strings.Contains(text, w.PrevComm) {
				t.Errorf("event %d: %s", n, text)
			}
			continue
		}
		headers++
		keyword, activity, related := "", "", ""
		if rec.Keywords != 0 {
			keyword = fmt.Sprintf("0x%X", rec.Keywords)
		}
		if !rec.ActivityID.IsZero() {
			activity = rec.ActivityID.String()
		}
		if !rec.RelatedActivityID.IsZero() {
			related = rec.RelatedActivityID.String()
		}
		if int(rec.ID) != m.ID || int(rec.Version) != m.Version || int(rec.Level) != m.Level || int(rec.Opcode) != m.Opcode || keyword != m.Keyword || activity != m.Activity || related != m.RelatedActivity {
			t.Errorf("event %d, %s: id %d, version %d, level %d, opcode %d, %s %s %s, want %+v", n, w.Name, rec.ID, rec.Version, rec.Level, rec.Opcode, keyword, activity, related, m)
		}
	}
	if n != len(want) || headers == 0 {
		t.Errorf("%d events, %d of programs, want %d", n, headers, len(want))
	}
	if s := r.Stats(); s.Undecodable+s.OutOfOrder+s.Lost > 0 {
		t.Errorf("%+v", s)
	}
	t.Logf("%d events, %d of programs", n, headers)
}
