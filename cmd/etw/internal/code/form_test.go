package code

import (
	"testing"
)

func TestFindForm(t *testing.T) {
	for _, test := range []struct{ path, to, want string }{
		{"a.pb.gz", "", "pprof"}, {"A.SPEEDSCOPE.JSON", "", "speedscope"}, {"a.folded", "", "folded"}, {"x", "pprof", "pprof"}, {"", "folded", "folded"},
		{"a.json", "", ""}, {"", "", ""}, {"a.folded", "folder", ""},
	} {
		got, err := findForm(test.path, test.to, []string{"pprof", "speedscope", "folded"})
		if (err != nil) != (test.want == "") || err == nil && got.name != test.want {
			t.Errorf("%s, %s: %v, %v", test.path, test.to, got, err)
		}
	}
}
