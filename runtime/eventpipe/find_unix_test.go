//go:build unix

package eventpipe

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"
)

func TestParseSocket(t *testing.T) {
	for name, want := range map[string]socket{
		"dotnet-diagnostic-12-345-socket":          {pid: 12, key: "345"},
		"dotnet-diagnostic-dsrouter-12-345-socket": {pid: 12},
		"dotnet-diagnostic-dsrouter-12":            {pid: 12},
	} {
		if got, ok := parseSocket(name); !ok || got != want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, ok, want)
		}
	}
	for _, name := range []string{
		"", "dotnet-diagnostic-", "dotnet-diagnostic-12", "dotnet-diagnostic-12-socket", "dotnet-diagnostic-12-345",
		"dotnet-diagnostic-x-345-socket", "dotnet-diagnostic--1-345-socket", "clr-debug-pipe-12-345-in", "dotnet-diagnostic-dsrouter-",
	} {
		if got, ok := parseSocket(name); ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestNewestSocket(t *testing.T) {
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0) }
	list := []socket{
		{path: "old", pid: 12, key: "1", mtime: at(1)}, {path: "right", pid: 12, key: "2", mtime: at(2)},
		{path: "stale", pid: 12, key: "3", mtime: at(3)}, {path: "other", pid: 13, key: "2", mtime: at(9)},
	}
	if s, ok := newest(list, 12, "2"); !ok || s.path != "right" {
		t.Errorf("%+v, %v", s, ok)
	}
	if s, ok := newest(list, 12, ""); !ok || s.path != "stale" {
		t.Errorf("without a key: %+v, %v", s, ok)
	}
	if s, ok := newest(append(list, socket{path: "router", pid: 12, mtime: at(4)}), 12, "2"); !ok || s.path != "router" {
		t.Errorf("with a newer router: %+v, %v", s, ok)
	}
	if s, ok := newest(list, 12, "7"); ok {
		t.Errorf("a socket of another process: %+v", s)
	}
}

// TestErrorsInConnecting checks the message of each.
func TestErrorsInConnecting(t *testing.T) {
	wantError(t, "a socket of another user", unreachable("/s", os.ErrPermission), fs.ErrPermission)
	other := errors.New("other")
	wantError(t, "another error", unreachable("/s", other), other)
}
