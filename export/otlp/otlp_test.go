package otlp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A record of everything that has a place in the mapping.
func testRecord() (*etw.Record, *etw.EventDesc) {
	provider := &etw.ProviderDesc{Name: "My-Provider", GUID: etw.MustParseGUID("2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5")}
	d := &etw.EventDesc{
		Provider: provider, ID: 7, Version: 2, Name: "Sold_V2", Task: 3,
		Fields: []etw.FieldDesc{
			{Name: "Text", Type: etw.InUnicodeString}, {Name: "Big", Type: etw.InUInt64}, {Name: "Real", Type: etw.InDouble},
			{Name: "Kind", Type: etw.InUInt32, Map: &etw.MapDesc{Entries: []etw.MapEntry{{Value: 1, Name: "One"}}}},
			{Name: "Text", Type: etw.InBoolean}, {Type: etw.InUInt8, Name: ""},
			{Name: "List", Type: etw.InStruct, Count: etw.Size{Kind: etw.SizeConst, N: 2}, Fields: []etw.FieldDesc{{Name: "A", Type: etw.InUInt8}, {Name: "B", Type: etw.InInt8}}},
			{Name: "Raw", Type: etw.InBinary, Length: etw.Size{Kind: etw.SizeConst, N: 3}},
		},
	}
	p := append(etw.AppendUTF16(nil, "a\"\n\u00e9"), 0, 0)
	p = append(p, bytes.Repeat([]byte{0xff}, 8)...)
	p = append(p, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f) // infinity
	p = append(p, 1, 0, 0, 0, 1, 0, 0, 0, 9, 1, 0xff, 3, 0xfe, 'x', 'y', 'z')
	clock := &etw.Clock{Start: etw.FileTimeOf(time.Unix(1_700_000_000, 0)), Frequency: 1e9}
	return &etw.Record{
		Provider: provider.GUID, ProviderName: provider.Name, ID: 7, Version: 2, Level: 2, Channel: 9, Keywords: 1 << 63, PointerSize: etw.Ptr64,
		ProcessID: 11, ThreadID: 12, Processor: 3, Timestamp: 5, Clock: clock, ActivityID: etw.GUID{1}, Schema: d, Payload: p,
		Extended: []etw.ExtendedItem{{Type: 0x100, Data: bytes.Repeat([]byte{0xab}, 16)}, {Type: 0x101, Data: bytes.Repeat([]byte{0xcd}, 8)}},
	}, d
}

func TestLogRecord(t *testing.T) {
	rec, _ := testRecord()
	d := etw.NewDecoder()
	e := d.Event(rec)
	values, err := d.Decode(rec)
	if err != nil {
		t.Fatal(err)
	}
	l := otlp.NewLogs(otlp.Attribute{Key: "host.name", Value: "h"})
	l.Add(rec, e, values)
	line := l.AppendJSON(nil)
	var got any
	testio.JSON(t, line, &got)
	for _, want := range []string{
		`"timeUnixNano":"1700000000000000005"`, `"severityNumber":17,"severityText":"ERROR"`, `"eventName":"My-Provider/Sold"`,
		`"traceId":"abababababababababababababababab","spanId":"cdcdcdcdcdcdcdcd"`, `"scope":{"name":"My-Provider"}`,
		`{"key":"etw.keywords","value":{"intValue":"-9223372036854775808"}}`, `{"key":"etw.task","value":{"intValue":"3"}}`,
		`{"key":"Text","value":{"stringValue":"a\"\n` + "\u00e9" + `"}}`, `{"key":"Big","value":{"intValue":"-1"}}`, `{"key":"Real","value":{"doubleValue":"Infinity"}}`,
		`{"key":"Kind","value":{"stringValue":"One"}}`, `{"key":"Text_5","value":{"boolValue":true}}`, `{"key":"field6","value":{"intValue":"9"}}`,
		`{"key":"List","value":{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"A","value":{"intValue":"1"}},{"key":"B","value":{"intValue":"-1"}}]}},`,
		`{"key":"Raw","value":{"bytesValue":"eHl6"}}`,
	} {
		if !strings.Contains(string(line), want) {
			t.Errorf("there is no %s in\n%s", want, line)
		}
	}
	l.Reset()
	if l.Count() != 0 || string(l.AppendJSON(nil)) == string(line) {
		t.Error("it is not empty")
	}
	if strings.Contains(string(line), `"body"`) {
		t.Error("there is a body")
	}
}

// A collector answers requests as the test says, and keeps the bodies that it takes.
type collector struct {
	t       *testing.T
	answers []func(http.ResponseWriter)
	bodies  []string
	asked   int
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	z, err := gzip.NewReader(r.Body)
	if err != nil || r.Header.Get("Content-Type") != "application/json" || r.URL.Path != "/base/v1/logs" || r.Header.Get("Token") != "secret" {
		c.t.Errorf("%v, %v %s", err, r.Header, r.URL)
		return
	}
	body, err := io.ReadAll(z)
	if err != nil {
		c.t.Error(err)
	}
	n := c.asked
	c.asked++
	if n < len(c.answers) && c.answers[n] != nil {
		c.answers[n](w)
		return
	}
	c.bodies = append(c.bodies, string(body))
	io.WriteString(w, "{}")
}

func status(code int, after string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(code)
		io.WriteString(w, `{"message":"some reason"}`)
	}
}

func TestClient(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []func(http.ResponseWriter)
		elapsed time.Duration
		want    string // of the error
		asked   int
		least   time.Duration // that was waited
	}{
		{"at once", nil, 0, "", 1, 0},
		{"busy twice", []func(http.ResponseWriter){status(503, ""), status(429, "7")}, 0, "", 3, 7 * time.Second},
		{"busy for ever", []func(http.ResponseWriter){status(503, "20"), status(503, "20"), status(503, "20"), status(503, "20")}, time.Minute, "given up after 1m0s", 4, 60 * time.Second},
		{"refused", []func(http.ResponseWriter){status(400, "")}, 0, "400 Bad Request: some reason", 1, 0},
		{"partly", []func(http.ResponseWriter){func(w http.ResponseWriter) {
			io.WriteString(w, `{"partialSuccess":{"rejectedLogRecords":"3","errorMessage":"too old"}}`)
		}}, 0, "rejected 3 of them: too old", 1, 0},
	} {
		coll := &collector{t: t, answers: c.answers}
		server := httptest.NewServer(coll)
		client, err := otlp.NewClient(server.URL+"/base", http.Header{"Token": {"secret"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		waited := time.Duration(0)
		client.MaxElapsed = c.elapsed
		client.Sleep = func(_ context.Context, d time.Duration) error { waited += d; return nil }
		err = client.Send(context.Background(), otlp.SignalLogs, []byte("body"))
		server.Close()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || coll.asked != c.asked || waited < c.least {
			t.Errorf("%s: %v after %d requests and %v", c.name, err, coll.asked, waited)
		}
		if c.want == "" {
			if diff := cmp.Diff([]string{"body"}, coll.bodies); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", c.name, diff)
			}
		}
	}
}

func TestClientCanceled(t *testing.T) {
	coll := &collector{t: t, answers: []func(http.ResponseWriter){status(503, "")}}
	server := httptest.NewServer(coll)
	defer server.Close()
	client, err := otlp.NewClient(server.URL+"/base/", http.Header{"Token": {"secret"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	client.Sleep = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
	if err := client.Send(ctx, otlp.SignalLogs, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, bad := range []string{"localhost:4318", "ftp://x", "http://", "::"} {
		if _, err := otlp.NewClient(bad, nil, nil); err == nil {
			t.Errorf("%s is an address", bad)
		}
	}
}

// TestSpanStatus has the status of spans: the program's own word is final.
func TestSpanStatus(t *testing.T) {
	for _, c := range []struct {
		ok, failed bool
		want       string
	}{{false, false, ""}, {false, true, `"status":{"code":2}`}, {true, false, `"status":{"code":1}`}, {true, true, `"status":{"code":1}`}} {
		var s otlp.Spans
		s.Add(1, "P", "T", requests.Activity{TraceID: strings.Repeat("1", 32), SpanID: strings.Repeat("2", 16), OK: c.ok, Failed: c.failed})
		text := string(s.AppendJSON(nil))
		if strings.Contains(text, `"status"`) != (c.want != "") || !strings.Contains(text, c.want) {
			t.Errorf("ok %v, failed %v: %s", c.ok, c.failed, text)
		}
	}
}
