package fetch

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestParsePath(t *testing.T) {
	const a, b = "https://a.example/symbols", "https://b.example"
	for text, want := range map[string]Path{
		"":                            nil,
		" ; ;":                        nil,
		`C:\symbols;/usr/x`:           {{Folder: `C:\symbols`}, {Folder: "/usr/x"}},
		a + "/":                       {{Stores: []string{"U"}, Server: a}},
		"srv*" + a:                    {{Stores: []string{"U"}, Server: a}},
		"SRV*/c*" + a:                 {{Stores: []string{"/c"}, Server: a}},
		"srv**" + a:                   {{Stores: []string{"U"}, Server: a}},
		"srv*/c*/d*" + a:              {{Stores: []string{"/c", "/d"}, Server: a}},
		"srv*/c":                      {{Stores: []string{"/c"}}},
		"symsrv*symsrv.dll*/c*" + a:   {{Stores: []string{"/c"}, Server: a}},
		"cache*/c;/f;srv*/d*" + a:     {{Stores: []string{"/c"}, Folder: "/f"}, {Stores: []string{"/c", "/d"}, Server: a}},
		"/f;cache*;" + a:              {{Folder: "/f"}, {Stores: []string{"U"}, Server: a}},
		"debuginfod*ima:off " + b:     {{Stores: []string{"U"}, Server: b, Debuginfod: true}},
		"debuginfod*" + a + "  " + b:  {{Stores: []string{"U"}, Server: a, Debuginfod: true}, {Stores: []string{"U"}, Server: b, Debuginfod: true}},
		"source*/c*" + a:              {{Stores: []string{"/c"}, Server: a, Source: true}},
		"srv*/c*http://127.0.0.1:8/x": {{Stores: []string{"/c"}, Server: "http://127.0.0.1:8/x"}},
	} {
		got, err := ParsePath(text, "U")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v, not %+v", text, got, err, want)
		}
	}
	for text, part := range map[string]string{
		"srv*/c*http://a.example":       "https",
		"ftp://a.example":               "https",
		"file:///c":                     "HOST",
		"https://me:secret@a.example":   "HOST",
		"https://a.example?x=1":         "HOST",
		"srv*" + a + "*/c":              "last part",
		"srv*" + a + "*" + b:            "last part",
		"what*/c":                       "begins with",
		"debuginfod*":                   "no address",
		"source*/c":                     "no address",
		"debuginfod*/c*" + b:            "begins with",
		strings.Repeat("/x;", 1000):     "more than",
		"srv*http://127.0.0.1.example/": "https",
	} {
		if got, err := ParsePath(text, "U"); err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %+v, %v, without %q", text, got, err, part)
		}
	}
	if _, err := ParsePath("srv*"+a, ""); err == nil {
		t.Error("no error where there is no store")
	}
}

func FuzzParsePath(f *testing.F) {
	f.Add("cache*/c;srv*/d*https://a.example;debuginfod*https://b.example x")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePath(text, "U")
		if err != nil {
			return
		}
		for _, place := range p {
			if place.Server != "" && (checkServer(place.Server) != nil || len(place.Stores) == 0) {
				t.Errorf("%q: %+v", text, place)
			}
			if slices.Contains(place.Stores, "") || place.Server == "" && place.Folder == "" && len(place.Stores) == 0 {
				t.Errorf("%q: %+v is nowhere", text, place)
			}
		}
	})
}
