// Package eventrecord makes records of the events that another package for ETW receives, so
// that typed handlers take them. Use it where a program has its own consumer. It imports
// package etw, and nothing that reads files or runs sessions.
//
//	var r etw.Record // used again for each event
//	eventrecord.Of(&r, unsafe.Pointer(event), nil)
//	err := mux.Dispatch(&r)
package eventrecord

import (
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/internal/rawevent"
)

// Of sets r to an event that another package for ETW has received, so that a Mux
// dispatches it: event points to the EVENT_RECORD with which Windows calls back. The clock
// is that of the session's time stamps; nil is the one that consumers have unless they
// ask for raw time stamps, in units of 100 ns since 1601. Events that are classic have the
// GUID of their class as the provider, without a name.
//
// r points to memory of Windows, or whatever event points to: it is valid until the callback
// returns. [etw.Record.Clone] makes a copy. Extended is used again, so that with the same r
// nothing is allocated.
func Of(r *etw.Record, event unsafe.Pointer, clock *etw.Clock) { rawevent.RecordOf(r, event, clock) }
