package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

// TestViewLive shows a process whose first session delivers events, some of them when it is told to,
// and whose second one lists its methods, for which nobody waits.
func TestViewLive(t *testing.T) {
	methods, trace := recorded(t, "rundown.nettrace"), bakeryTrace(t)
	more, list := make(chan struct{}), make(chan struct{})
	rt := eventpipetest.NewRuntime(9)
	rt.PID = int64(os.Getpid())
	var sessions atomic.Int32
	rt.Record = func(w io.Writer, stopped <-chan struct{}) {
		if sessions.Add(1) == 2 {
			w.Write(methods[:1000])
			<-list
			w.Write(methods[1000:])
			return
		}
		w.Write(trace[:len(trace)*3/4])
		<-more
		w.Write(trace[len(trace)*3/4:])
	}
	key := "1"
	if stat, err := os.ReadFile("/proc/self/stat"); err == nil { // Linux: the sockets of processes tell when they began
		_, rest, _ := strings.Cut(string(stat), ") ")
		key = strings.Fields(rest)[19]
	}
	l, err := serve(filepath.Join(os.TempDir(), fmt.Sprintf("dotnet-diagnostic-%d-%s-socket", os.Getpid(), key)), rt)
	if err != nil {
		t.Skip(err) // there are no such sockets
	}
	defer l.Close()
	kept := filepath.Join(t.TempDir(), "kept.nettrace")
	address := startView(t, "-p", strconv.Itoa(os.Getpid()), "-o", kept)
	unnamed := ""
	look := func() (growing bool, events map[string]int) {
		var about struct {
			Growing bool
			Unnamed string
		}
		if _, body, _ := get(t, address+"api/"); json.Unmarshal(body, &about) != nil {
			t.Fatalf("%s", body)
		}
		var doc struct {
			Rows []struct {
				Event string
				Count int
			}
		}
		if status, body, _ := get(t, address+"api/stat"); status == 200 && json.Unmarshal(body, &doc) != nil {
			t.Fatalf("%s", body)
		}
		events = make(map[string]int)
		for _, r := range doc.Rows {
			events[r.Event] += r.Count
		}
		unnamed = about.Unnamed
		return about.Growing, events
	}
	growing, before := look()
	if names := before["MethodDCEndVerbose_V1"] + before["MethodDCEndVerbose_V2"]; !growing || names > 0 || !strings.Contains(unnamed, "the runtime lists them, 0 so far") {
		t.Errorf("it grows: %v, %q; at first there are %v", growing, unnamed, before)
	}
	close(list)
	for end := time.Now().Add(2 * time.Minute); unnamed != "" || before["MethodDCEndVerbose_V1"]+before["MethodDCEndVerbose_V2"] == 0; growing, before = look() {
		if time.Now().After(end) {
			t.Fatalf("no names come: %q, %v", unnamed, before)
		}
		time.Sleep(10 * time.Millisecond)
	}
	close(more)
	for end := time.Now().Add(2 * time.Minute); growing; growing, _ = look() {
		if time.Now().After(end) {
			t.Fatal("the recording does not end")
		}
		time.Sleep(10 * time.Millisecond)
	}
	_, after := look()
	if after["ThreadSample"] == 0 || after["ThreadSample"] <= before["ThreadSample"] {
		t.Errorf("%d samples have come, before there were %d", after["ThreadSample"], before["ThreadSample"])
	}
	if status, body, _ := get(t, address+"api/top"); status != 200 || !json.Valid(body) {
		t.Errorf("%d: %s", status, body)
	}
	if code, _, stderr := runTool("top", kept); code != 0 {
		t.Errorf("the recording that was kept: %d, %s", code, stderr)
	}
}
