package pick

import (
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestMarks: a region is from a mark up to the next one, whatever its name, or to the end.
func TestMarks(t *testing.T) {
	var mux etw.Mux
	f := &finding{sought: &sought{names: []filter.Glob{"load*"}}, flow: activities.Of(&mux), during: filter.During{}, tasks: make(map[string]bool)}
	for at, text := range []string{10: "start", 20: "load 1", 30: "Load 2", 40: "rest", 80: "load 3"} {
		if text != "" {
			f.mark(time.Duration(at), text)
		}
	}
	during, err := f.found()
	if err != nil || f.count != 3 || len(f.tasks) != 5 {
		t.Fatal(err, f.count, f.tasks)
	}
	for at, want := range map[time.Duration]bool{19: false, 20: true, 30: true, 39: true, 40: false, 79: false, 80: true, 90: true} {
		if got := during.Has(filter.Worker{Process: 7, Thread: 8}, at); got != want {
			t.Errorf("at %d: %v", at, got)
		}
	}
}

// TestNoActivity: of one that hangs it is said that it did not end, and no name like it is offered.
func TestNoActivity(t *testing.T) {
	known := []string{"/hang", "/cpu", "/hang"}
	for name, want := range map[string]string{"/hang": "no activity of /hang ended", "/cpo": "did you mean /cpu?"} {
		if err := NoActivity("--why "+name, name, known); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
