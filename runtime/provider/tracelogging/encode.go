package tracelogging

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An encode appends the value that p points to, which is of the type that it was made
// for.
type encode func(w *writer, p unsafe.Pointer)

// inOrder returns the encoder of the fields of a struct.
func inOrder(fields []field) encode {
	return func(w *writer, p unsafe.Pointer) {
		for i := range fields {
			fields[i].encode(w, unsafe.Add(p, fields[i].offset))
			if w.err != nil {
				w.err = fmt.Errorf("%s: %w", fields[i].desc.Name, w.err)
				return
			}
		}
	}
}

// encodeArray returns the encoder of n elements.
func encodeArray(n int, size uintptr, one encode) encode {
	return func(w *writer, p unsafe.Pointer) { elements(w, p, n, size, one) }
}

// elements writes n values that lie back to back.
func elements(w *writer, p unsafe.Pointer, n int, size uintptr, one encode) {
	for i := range n {
		if one(w, unsafe.Add(p, uintptr(i)*size)); w.err != nil {
			return
		}
	}
}

// encodeSlice returns the encoder of the number of elements and the elements.
func encodeSlice(size uintptr, one encode) encode {
	return func(w *writer, p unsafe.Pointer) {
		// Slices of all types begin with a pointer and a length.
		s := *(*[]struct{})(p)
		if w.count(len(s)) {
			elements(w, unsafe.Pointer(unsafe.SliceData(s)), len(s), size, one)
		}
	}
}

// count appends a number of elements or bytes that follow.
func (w *writer) count(n int) bool {
	if n > math.MaxUint16 {
		w.err = fmt.Errorf("%d are too many: %w", n, etw.ErrLength)
		return false
	}
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(n))
	return true
}

func encode8(w *writer, p unsafe.Pointer) { w.b = append(w.b, *(*uint8)(p)) }
func encode16(w *writer, p unsafe.Pointer) {
	w.b = binary.LittleEndian.AppendUint16(w.b, *(*uint16)(p))
}
func encode32(w *writer, p unsafe.Pointer) {
	w.b = binary.LittleEndian.AppendUint32(w.b, *(*uint32)(p))
}
func encode64(w *writer, p unsafe.Pointer) {
	w.b = binary.LittleEndian.AppendUint64(w.b, *(*uint64)(p))
}

func encodeInt(w *writer, p unsafe.Pointer) {
	w.b = binary.LittleEndian.AppendUint64(w.b, uint64(*(*int)(p)))
}

func encodeUint(w *writer, p unsafe.Pointer) {
	w.b = binary.LittleEndian.AppendUint64(w.b, uint64(*(*uint)(p)))
}

func encodeBool(w *writer, p unsafe.Pointer) {
	if *(*bool)(p) {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
}

func encodeTime(w *writer, p unsafe.Pointer) {
	t, ticks := (*time.Time)(p), etw.FileTime(0)
	if !t.IsZero() {
		ticks = etw.FileTimeOf(*t)
	}
	w.b = binary.LittleEndian.AppendUint64(w.b, uint64(ticks))
}

func encodeSystemTime(w *writer, p unsafe.Pointer) {
	w.b = etw.AppendSystemTime(w.b, *(*etw.SystemTime)(p))
}

func encodeGUID(w *writer, p unsafe.Pointer) { w.b = append(w.b, (*etw.GUID)(p)[:]...) }

func encodeSID(w *writer, p unsafe.Pointer) {
	s := *(*etw.SID)(p)
	if !s.Valid() {
		w.err = etw.ErrSID
		return
	}
	w.b = append(w.b, s...)
}

func encodeBinary(w *writer, p unsafe.Pointer) {
	b := *(*[]byte)(p)
	if w.count(len(b)) {
		w.b = append(w.b, b...)
	}
}

func encodeText(w *writer, p unsafe.Pointer) {
	s := *(*string)(p)
	if strings.IndexByte(s, 0) >= 0 {
		w.err = etw.ErrNUL
		return
	}
	w.b = append(append(w.b, s...), 0)
}

func encodeCounted(w *writer, p unsafe.Pointer) {
	s := *(*string)(p)
	if w.count(len(s)) {
		w.b = append(w.b, s...)
	}
}

func encodeANSI(w *writer, p unsafe.Pointer) {
	s := *(*etw.ANSI)(p)
	if bytes.IndexByte(s, 0) >= 0 {
		w.err = etw.ErrNUL
		return
	}
	w.b = append(append(w.b, s...), 0)
}

func encodeUTF16(w *writer, p unsafe.Pointer) {
	s := *(*string)(p)
	if strings.IndexByte(s, 0) >= 0 {
		w.err = etw.ErrNUL
		return
	}
	w.b = append(etw.AppendUTF16(w.b, s), 0, 0)
}

func encodeUnits(w *writer, p unsafe.Pointer) {
	s := *(*etw.UTF16)(p)
	if len(s)%2 != 0 {
		w.err = etw.ErrLength
		return
	}
	for i := 0; i < len(s); i += 2 {
		if s[i] == 0 && s[i+1] == 0 {
			w.err = etw.ErrNUL
			return
		}
	}
	w.b = append(append(w.b, s...), 0, 0)
}
