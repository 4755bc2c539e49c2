package heap

import "github.com/etwgen/etwgen/runtime/etw"

// A dumpEnd ends the heap in a file that has nothing else, and so tells of no collection:
// runtime/gcdump delivers it. Nothing of it is decoded.
type dumpEnd struct{ etw.Empty }

var dumpEndDesc = etw.EventDesc{
	Provider: &etw.ProviderDesc{Name: "Etwgen-HeapDump", GUID: etw.MustParseGUID("d7e169b5-ad14-4729-aea7-f0b691e593e3")},
	ID:       1, Name: "HeapDump",
}

// EventDesc returns a description without fields.
func (*dumpEnd) EventDesc() *etw.EventDesc { return &dumpEndDesc }

// DecodeVersion reads nothing.
func (*dumpEnd) DecodeVersion(uint8, []byte, etw.PtrSize) (int, error) { return 0, nil }

// GetClrInstanceID returns the number of the only runtime of such a file.
func (*dumpEnd) GetClrInstanceID() uint16 { return 0 }
