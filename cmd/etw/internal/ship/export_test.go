package ship

import "testing"

func TestFindForm(t *testing.T) {
	for _, test := range []struct{ path, to, want string }{
		{"a.pb.gz", "", "pprof"}, {"A.SPEEDSCOPE.JSON", "", "speedscope"}, {"a.folded", "", "folded"}, {"x", "pprof", "pprof"}, {"", "folded", "folded"},
		{"a.trace.json", "", "chrome"}, {"metrics.prom", "", "prometheus"}, {"a.otlp.jsonl", "", "otlp"}, {"lake", "", "parquet"}, {"", "", "parquet"},
		{"a.json", "", ""}, {"lake.txt", "parquet", "parquet"}, {"a.folded", "folder", ""}, {"a.folded", "pprof", ""},
	} {
		o := &exporting{forms: exportForms(), path: test.path, to: test.to}
		var names []string
		for _, f := range o.forms {
			names = append(names, f.name)
		}
		err := o.findForm(names)
		if (err != nil) != (test.want == "") || err == nil && o.form.name != test.want {
			t.Errorf("%s, %s: %v, %v, want %q", test.path, test.to, o.form, err, test.want)
		}
	}
}
