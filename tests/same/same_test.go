package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLinesOf(t *testing.T) {
	files := map[string][]string{"TRACE": {"/a.etl", "/b.etl"}}
	var got []string
	for _, l := range linesOf("# comment\n\netw gc TRACE {,--all} -f {text,csv}\netw --version\n", files) {
		got = append(got, l.String())
	}
	want := []string{
		"etw gc /a.etl -f text", "etw gc /b.etl -f text", "etw gc /a.etl -f csv", "etw gc /b.etl -f csv",
		"etw gc /a.etl --all -f text", "etw gc /b.etl --all -f text", "etw gc /a.etl --all -f csv", "etw gc /b.etl --all -f csv",
		"etw --version",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRules(t *testing.T) {
	r := &rules{commands: map[string][]string{}, words: map[string][]string{}}
	for _, text := range []string{"command disks = files --disks", "command keywords =", "flag --size = --limit", "output first_(ms) = first$1"} {
		if err := r.add(text); err != nil {
			t.Fatal(err)
		}
	}
	now, ok := r.translate(line{"etw", []string{"disks", "--size", "3"}})
	if want := (line{"etw", []string{"files", "--disks", "--limit", "3"}}); !ok || !cmp.Equal(want, now, cmp.AllowUnexported(line{})) {
		t.Errorf("want %v, got %v", want, now)
	}
	if now, ok := r.translate(line{"etw", []string{"keywords", "GC"}}); ok {
		t.Errorf("a command that is gone became %v", now)
	}
	if got := string(r.clean(streams{"stdout": []byte("first_ms")})["stdout"]); got != "firstms" {
		t.Errorf("want firstms, got %s", got)
	}
	for _, text := range []string{"command disks", "rename a = b", "output ( = b"} {
		if r.add(text) == nil {
			t.Errorf("%q is taken for a rule", text)
		}
	}
}

func TestDifferences(t *testing.T) {
	tests := []struct {
		name      string
		old, next streams
		want      []string
	}{
		{"the same", streams{"stdout": []byte("a")}, streams{"stdout": []byte("a")}, nil},
		{"a file", streams{}, streams{"file x": nil}, []string{"file x: only in the new"}},
		{"text", streams{"stdout": []byte("a\nb c\n")}, streams{"stdout": []byte("a\nb d\n")}, []string{"stdout line\n- b c\n+ b d"}},
		{"more", streams{"stdout": []byte("a")}, streams{"stdout": []byte("a\nb")}, []string{"stdout more lines\n+ b"}},
		{"bytes", streams{"file x": {0xff}}, streams{"file x": {0xfe, 1}}, []string{"file x of 1 bytes, now 2"}},
		{
			"JSON", streams{"stdout": []byte(`{"rows":[{"a":1},{"a":2}],"b":[]}`)}, streams{"stdout": []byte(`{"rows":[{"A":1},{"a":3}],"b":[1]}`)},
			[]string{"stdout .b[]: of 0, now 1", "stdout .rows[].A: only in the new", "stdout .rows[].a: 2 -> 3"},
		},
		{"order", streams{"stdout": []byte(`{"a":1,"b":2}`)}, streams{"stdout": []byte(`{"b":2,"a":1}`)}, []string{"stdout JSON of another order or form"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, differences(tt.old, tt.next)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}
