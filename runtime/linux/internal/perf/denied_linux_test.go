package perf

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// An error says which right or setting forbids.
func TestForbidden(t *testing.T) {
	for _, c := range []struct {
		rights   uint64
		filtered bool
		want     string
	}{
		{0, false, "CAP_PERFMON, since /proc/sys/kernel/perf_event_paranoid is 2"},
		{1, true, "CAP_PERFMON"},
		{rightPerf, true, "seccomp"},
		{rightAdmin, false, "security module"},
	} {
		if got := forbidden(c.rights, c.filtered, "2"); !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s", c, got)
		}
	}
	for err, want := range map[error]string{
		syscall.ESRCH: "number 12", syscall.EMFILE: "ulimit", syscall.ENOSYS: "built without", syscall.EACCES: "perf_event_open: ", syscall.EINVAL: "perf_event_open: ",
	} {
		if got := explain(err, 12); !errors.Is(got, err) || !strings.Contains(got.Error(), want) {
			t.Errorf("%v: %v", err, got)
		}
	}
}

func TestNumbers(t *testing.T) {
	if got, err := numbers("", "0-2,5"); err != nil || !slices.Equal(got, []int{0, 1, 2, 5}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "x", "3-1", "-1", "0-99999999"} {
		if got, err := numbers("list", bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

func TestRingBytes(t *testing.T) {
	page := os.Getpagesize()
	for given, want := range map[int]int{0: page, page: page, 3 * page: 2 * page, 1 << 20: 1 << 20} {
		if got := ringBytes(&Config{RingBytes: given}); got != want {
			t.Errorf("%d: %d, want %d", given, got, want)
		}
	}
}
