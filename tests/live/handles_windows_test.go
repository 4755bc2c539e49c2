package live

import (
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/provider"
	"github.com/etwgen/etwgen/runtime/session"
)

// openHandles returns how many handles the process has. It asks for each number, since wine
// says of all processes that they have none.
func openHandles() (n int) {
	info := syscall.NewLazyDLL("kernel32.dll").NewProc("GetHandleInformation")
	var flags uint32
	for h := uintptr(4); h < 1<<16; h += 4 {
		if ok, _, _ := info.Call(h, uintptr(unsafe.Pointer(&flags))); ok != 0 {
			n++
		}
	}
	return n
}

// TestHandles: a thousand sessions that read events of providers, which come and go, leave
// neither a handle of the process nor a goroutine behind.
func TestHandles(t *testing.T) {
	needETW(t)
	const rounds, settled = 1000, 100
	goroutines, open := 0, 0
	for round := range rounds {
		p := provider.New(clr.Provider.Desc)
		s, err := session.Start(t.Context(), session.Config{
			Providers:   []session.Provider{{GUID: clr.Provider.Desc.GUID, Enablement: session.Enablement{Level: 5, Keywords: 1}}},
			Consumption: session.Consumption{Delivery: session.DeliverEvents, WithoutSchemas: true, WithoutAttribution: true},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Register(); err != nil {
			t.Fatal(err)
		}
		if err := p.Write(t.Context(), &clr.GCStartV1{Count: uint32(round)}); err != nil {
			t.Fatal(err)
		}
		if err := s.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range testio.Records(t, s.Records()) {
		}
		s.Close()
		<-s.Done()
		p.Close()
		if round == settled {
			goroutines, open = runtime.NumGoroutine(), openHandles()
		}
	}
	for try := 0; runtime.NumGoroutine() > goroutines+5 && try < 100; try++ {
		time.Sleep(10 * time.Millisecond)
	}
	n := openHandles()
	t.Logf("%d goroutines and %d handles after %d rounds, %d and %d after %d", goroutines, open, settled, runtime.NumGoroutine(), n, rounds)
	// Threads of Go's own have some, and may be more by then.
	if open == 0 || n > open+100 || runtime.NumGoroutine() > goroutines+5 {
		t.Errorf("%d goroutines and %d handles, after %d rounds %d and %d", runtime.NumGoroutine(), n, settled, goroutines, open)
	}
}
