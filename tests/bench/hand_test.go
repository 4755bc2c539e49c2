package bench

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Decoders as one writes them by hand for one event, without a package behind
// them: the measure for the generated ones. They give the same: all fields, an
// error for a payload that is cut off, views of the payload for strings and
// arrays, and the number of bytes.
//
// They are not inlined. A decoder is called by the code that found the type of a record;
// inlined into the loop of a benchmark, the shortest would lose its stores, too.

// A shortError says which event a payload is too short for.
type shortError struct {
	event string
	len   int
}

func (e *shortError) Error() string { return fmt.Sprintf("%s: cut off at %d bytes", e.event, e.len) }

type handGCStart struct {
	Count, Depth, Reason, Type uint32
	ClrInstanceID              uint16
}

//go:noinline
func (e *handGCStart) decode(p []byte) (int, error) {
	if len(p) < 18 {
		return 0, &shortError{"GCStart", len(p)}
	}
	e.Count = binary.LittleEndian.Uint32(p[0:])
	e.Depth = binary.LittleEndian.Uint32(p[4:])
	e.Reason = binary.LittleEndian.Uint32(p[8:])
	e.Type = binary.LittleEndian.Uint32(p[12:])
	e.ClrInstanceID = binary.LittleEndian.Uint16(p[16:])
	return 18, nil
}

type handGCHeapStats struct {
	GenerationSize0, TotalPromotedSize0                 uint64
	GenerationSize1, TotalPromotedSize1                 uint64
	GenerationSize2, TotalPromotedSize2                 uint64
	GenerationSize3, TotalPromotedSize3                 uint64
	FinalizationPromotedSize, FinalizationPromotedCount uint64
	PinnedObjectCount, SinkBlockCount, GCHandleCount    uint32
	ClrInstanceID                                       uint16
}

func (e *handGCHeapStats) decode(p []byte) (int, error) {
	if len(p) < 94 {
		return 0, &shortError{"GCHeapStats", len(p)}
	}
	e.GenerationSize0 = binary.LittleEndian.Uint64(p[0:])
	e.TotalPromotedSize0 = binary.LittleEndian.Uint64(p[8:])
	e.GenerationSize1 = binary.LittleEndian.Uint64(p[16:])
	e.TotalPromotedSize1 = binary.LittleEndian.Uint64(p[24:])
	e.GenerationSize2 = binary.LittleEndian.Uint64(p[32:])
	e.TotalPromotedSize2 = binary.LittleEndian.Uint64(p[40:])
	e.GenerationSize3 = binary.LittleEndian.Uint64(p[48:])
	e.TotalPromotedSize3 = binary.LittleEndian.Uint64(p[56:])
	e.FinalizationPromotedSize = binary.LittleEndian.Uint64(p[64:])
	e.FinalizationPromotedCount = binary.LittleEndian.Uint64(p[72:])
	e.PinnedObjectCount = binary.LittleEndian.Uint32(p[80:])
	e.SinkBlockCount = binary.LittleEndian.Uint32(p[84:])
	e.GCHandleCount = binary.LittleEndian.Uint32(p[88:])
	e.ClrInstanceID = binary.LittleEndian.Uint16(p[92:])
	return 94, nil
}

type handMethodLoadVerbose struct {
	MethodID, ModuleID, MethodStartAddress       uint64
	MethodSize, MethodToken, MethodFlags         uint32
	MethodNamespace, MethodName, MethodSignature []byte
	ClrInstanceID                                uint16
}

func (e *handMethodLoadVerbose) decode(p []byte) (int, error) {
	if len(p) < 36 {
		return 0, &shortError{"MethodLoadVerbose", len(p)}
	}
	e.MethodID = binary.LittleEndian.Uint64(p[0:])
	e.ModuleID = binary.LittleEndian.Uint64(p[8:])
	e.MethodStartAddress = binary.LittleEndian.Uint64(p[16:])
	e.MethodSize = binary.LittleEndian.Uint32(p[24:])
	e.MethodToken = binary.LittleEndian.Uint32(p[28:])
	e.MethodFlags = binary.LittleEndian.Uint32(p[32:])
	off := 36
	end := nul16(p, off)
	if end < 0 {
		return 0, &shortError{"MethodLoadVerbose", len(p)}
	}
	e.MethodNamespace = p[off:end:end]
	off = end + 2
	if end = nul16(p, off); end < 0 {
		return 0, &shortError{"MethodLoadVerbose", len(p)}
	}
	e.MethodName = p[off:end:end]
	off = end + 2
	if end = nul16(p, off); end < 0 {
		return 0, &shortError{"MethodLoadVerbose", len(p)}
	}
	e.MethodSignature = p[off:end:end]
	off = end + 2
	if len(p)-off < 2 {
		return 0, &shortError{"MethodLoadVerbose", len(p)}
	}
	e.ClrInstanceID = binary.LittleEndian.Uint16(p[off:])
	return off + 2, nil
}

// nul16 returns the offset of the next UTF-16 NUL, sixteen bytes at a time.
func nul16(p []byte, i int) int {
	const ones, highs = 0x0001000100010001, 0x8000800080008000
	for ; i+16 <= len(p); i += 16 {
		q := p[i : i+16]
		v, w := binary.LittleEndian.Uint64(q), binary.LittleEndian.Uint64(q[8:])
		if zero := (v - ones) &^ v & highs; zero != 0 {
			return i + bits.TrailingZeros64(zero)>>4<<1
		}
		if zero := (w - ones) &^ w & highs; zero != 0 {
			return i + 8 + bits.TrailingZeros64(zero)>>4<<1
		}
	}
	for ; i+2 <= len(p); i += 2 {
		if p[i]|p[i+1] == 0 {
			return i
		}
	}
	return -1
}

type handBulkType struct {
	Count         uint32
	ClrInstanceID uint16
	values        []byte
}

type handBulkTypeValue struct {
	TypeID, ModuleID   uint64
	TypeNameID, Flags  uint32
	CorElementType     uint8
	Name               []byte
	TypeParameterCount uint32
	TypeParameters     []byte
}

// decode checks all elements, so that each can iterate without errors.
func (e *handBulkType) decode(p []byte) (int, error) {
	if len(p) < 6 {
		return 0, &shortError{"BulkType", len(p)}
	}
	e.Count = binary.LittleEndian.Uint32(p[0:])
	e.ClrInstanceID = binary.LittleEndian.Uint16(p[4:])
	if uint64(e.Count) > uint64(len(p))/31 {
		return 0, &shortError{"BulkType", len(p)}
	}
	off := 6
	for range e.Count {
		off += 25
		if off > len(p) {
			return 0, &shortError{"BulkType", len(p)}
		}
		end := nul16(p, off)
		if end < 0 || len(p)-end < 6 {
			return 0, &shortError{"BulkType", len(p)}
		}
		off = end + 6
		n := uint64(binary.LittleEndian.Uint32(p[end+2:]))
		if n > uint64(len(p)-off)/8 {
			return 0, &shortError{"BulkType", len(p)}
		}
		off += 8 * int(n)
	}
	e.values = p[6:off:off]
	return off, nil
}

func (e *handBulkType) each(yield func(handBulkTypeValue) bool) {
	p := e.values
	for range e.Count {
		v := handBulkTypeValue{
			TypeID:         binary.LittleEndian.Uint64(p[0:]),
			ModuleID:       binary.LittleEndian.Uint64(p[8:]),
			TypeNameID:     binary.LittleEndian.Uint32(p[16:]),
			Flags:          binary.LittleEndian.Uint32(p[20:]),
			CorElementType: p[24],
		}
		end := nul16(p, 25)
		v.Name = p[25:end:end]
		v.TypeParameterCount = binary.LittleEndian.Uint32(p[end+2:])
		next := end + 6 + 8*int(v.TypeParameterCount)
		v.TypeParameters = p[end+6 : next : next]
		if !yield(v) {
			return
		}
		p = p[next:]
	}
}
