package attach

import (
	"errors"
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

var defaults = Supervisor{Interval: 2 * time.Second, Retry: 200 * time.Millisecond, MaxRetry: 3 * time.Second}

// TestAfter has the times at which it is tried again after sessions that end early:
// later and later, up to a limit, and from the begin after one that has lasted.
func TestAfter(t *testing.T) {
	damage := &etw.IncompleteError{Damages: []*etw.Damage{{Err: errors.New("no block")}}, Count: 1}
	broken := &etw.IncompleteError{Damages: []*etw.Damage{{Err: nettrace.ErrTruncated}}, Count: 1}
	for _, c := range []struct {
		why     error
		longest time.Duration
	}{{damage, damageWait}, {broken, defaults.MaxRetry}} {
		var last *try
		before := time.Duration(0)
		for range 20 {
			last = defaults.after(last, c.why, time.Second, time.Unix(0, 0))
			if last.wait < before || last.wait > c.longest {
				t.Errorf("%v after %v", last.wait, before)
			}
			before = last.wait
		}
		if before != c.longest || last.failed != 20 {
			t.Errorf("after %d sessions it waits %v, want %v", last.failed, before, c.longest)
		}
		if again := defaults.after(last, c.why, steady, time.Unix(0, 0)); again.failed != 1 || again.wait != defaults.Retry {
			t.Errorf("after one that has lasted it waits %v", again.wait)
		}
	}
}

// TestAgain has a process come back at any time after any number of tries that failed: by
// the times at which it is looked, and tried again, it is attached to within five seconds.
func TestAgain(t *testing.T) {
	if every := defaults.lookAfter(false); every > 5*time.Second {
		t.Errorf("a process that is new is looked for every %v", every)
	}
	now := time.Unix(0, 0)
	var last *try
	for failed := range 20 {
		last = defaults.after(last, errors.New("gone"), 0, now)
		begun := now // the process is there just after a try failed
		for now.Before(last.next) {
			now = now.Add(defaults.lookAfter(true))
		}
		if took := now.Sub(begun); took > 5*time.Second || took <= 0 {
			t.Errorf("after %d tries it takes %v to the next one", failed+1, took)
		}
	}
}

// TestForget checks that the state of processes is forgotten that are gone, or are well.
func TestForget(t *testing.T) {
	r := &run{tries: map[string]*try{"gone": {}, "well": {}, "ill": {}, "new": {}}, left: map[string]bool{"gone": true, "ill": true},
		attached: map[string]time.Time{"well": time.Now().Add(-2 * steady), "new": time.Now()}}
	r.forget([]string{"ill", "well", "new"})
	if len(r.tries) != 2 || r.tries["ill"] == nil || r.tries["new"] == nil || len(r.left) != 1 {
		t.Errorf("%v, %v", r.tries, r.left)
	}
}

// TestExecutable has command lines, and the names of their programs.
func TestExecutable(t *testing.T) {
	for line, want := range map[string]string{
		"":                                    "",
		"/app/Bakery --port 80":               "Bakery",
		"dotnet /app/Bakery.dll --port 80":    "Bakery",
		"dotnet exec --x y Bakery.DLL":        "Bakery",
		"/usr/bin/dotnet":                     "dotnet",
		`"C:\Program Files\Shop\Shop.exe" -v`: "Shop",
		`C:\x\dotnet.exe "C:\x\a.b.dll"`:      "a.b",
		"appn.tmp":                            "appn.tmp",
	} {
		if got := executable(line); got != want {
			t.Errorf("%s is %q, want %q", line, got, want)
		}
	}
}
