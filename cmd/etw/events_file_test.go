package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest/tlg/tlgtest"
)

// TestEventsOfFile lists the events of programs and manifests, and says why there are none.
func TestEventsOfFile(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		testio.Write(t, path, data)
		return path
	}
	app, man := put("app.exe", tlgtest.Sample()), put("a.man", []byte(exampleManifest))
	cut := put("cut.exe", (&tlgtest.Image{Machine: tlgtest.X64, Data: append(append(tlgtest.Head(), tlgtest.Event("Sold", 4, 0)...), 99)}).Bytes())
	none := put("none.exe", (&tlgtest.Image{Machine: tlgtest.X64}).Bytes())
	for _, tt := range []struct {
		args string
		code int
		says []string
	}{
		{app, 0, []string{"Shop {00000001-", "Kitchen {00000002-", "one of Shop, Kitchen\n", "Opened"}},
		{app + " Sold", 0, []string{"Sold: event without an id, of Shop", "Count UInt32"}},
		{app + " Opened", 0, []string{"Opened: event without an id, of one of Shop, Kitchen"}},
		{"--format json " + app, 0, []string{`{"provider":"Shop","guid":"00000001-`, `{"provider":"","oneOf":["Shop","Kitchen"],"guid"`}},
		{"--format csv " + app, 0, []string{`"one of Shop, Kitchen",0,0,Opened`}},
		{app + " Sould", 2, []string{`is called "Sould" (did you mean Sold?)`}},
		{man, 0, []string{"MyProvider {11111111-", "Made"}},
		{cut, 1, []string{"Sold", "unknown kind 99"}},
		{none, 1, []string{"no events of TraceLogging", "no WEVT_TEMPLATE resource"}},
	} {
		out, errs, code := output(append([]string{"events"}, strings.Fields(tt.args)...)...)
		for _, want := range tt.says {
			if !strings.Contains(out+errs, want) {
				t.Errorf("%s does not say %q: %s%s", tt.args, want, out, errs)
			}
		}
		if code != tt.code {
			t.Errorf("%s exits with %d, want %d: %s", tt.args, code, tt.code, errs)
		}
	}
}
