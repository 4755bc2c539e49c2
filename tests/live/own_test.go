package live

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// byThread has the events of the runtime, thread by thread, in their order.
type byThread map[int64][]string

func (b byThread) add(rec *etw.Record) {
	if rec.Provider == clr.Provider.Desc.GUID {
		b[rec.ThreadID] = append(b[rec.ThreadID], string(append([]byte{byte(rec.ID), byte(rec.ID >> 8), rec.Version}, rec.Payload...)))
	}
}

// TestOwnFile: the events of a session equal those that the runtime writes to a file by
// itself, event for event and byte for byte, of a program that both record from its start.
// At the end of the program the file is closed a little earlier.
func TestOwnFile(t *testing.T) {
	if os.Getenv("ETWGEN_DOTNET") == "" {
		t.Skip("ETWGEN_DOTNET does not say where runtimes are")
	}
	for name, p := range programs {
		if p.version == 3 {
			continue // it cannot be started suspended
		}
		t.Run(name, func(t *testing.T) {
			folder, err := os.MkdirTemp("", "own")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(folder) // which wine cannot
			path := filepath.Join(folder, "own.nettrace")
			cmd := exec.Command(filepath.Join(os.Getenv("ETWGEN_DOTNET"), p.path), "--help")
			cmd.Env = append(os.Environ(), "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1", "DOTNET_EnableEventPipe=1",
				"DOTNET_EventPipeOutputPath="+path, "DOTNET_EventPipeConfig=Microsoft-Windows-DotNETRuntime:0x8019:5")
			child, err := eventpipe.Launch(t.Context(), cmd)
			if err != nil {
				t.Fatal(err)
			}
			defer child.Close()
			s := begin(t, child.Client, eventpipe.Config{Providers: []eventpipe.Provider{
				{Name: "Microsoft-Windows-DotNETRuntime", Keywords: 0x8019, Level: etw.LevelVerbose}}})
			if err := child.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			ours := make(byThread)
			n := whole(t, s, ours.add)
			_ = child.Wait() // what it thinks of --help is its own matter
			own, err := ownEvents(path)
			if err != nil {
				t.Fatal(err)
			}
			compareThreads(t, own, ours)
			t.Logf("%d events", n)
		})
	}
}

func ownEvents(path string) (byThread, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := nettrace.NewReader(f)
	if err != nil {
		return nil, err
	}
	own := make(byThread)
	for rec, err := range r.Records() {
		if err != nil {
			return nil, err
		}
		own.add(rec)
	}
	return own, nil
}

// compareThreads reports where a thread's events in the file are not those that the
// session has first of it.
func compareThreads(t *testing.T, own, ours byThread) {
	t.Helper()
	events, more := 0, 0
	for thread, list := range own {
		events += len(list)
		if len(ours[thread]) < len(list) {
			t.Errorf("thread %d: %d events, in the file of the runtime %d", thread, len(ours[thread]), len(list))
			continue
		}
		for i, e := range list {
			if e != ours[thread][i] {
				t.Errorf("thread %d: event %d is %.20x, in the file of the runtime %.20x", thread, i, ours[thread][i], e)
				break
			}
		}
	}
	for _, list := range ours {
		more += len(list)
	}
	more -= events
	if events == 0 || more > events/10 {
		t.Errorf("%d events in the file of the runtime, %d more in ours", events, more)
	}
}
