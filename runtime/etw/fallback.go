package etw

import "slices"

// EventSource declares the types of parameters in its metadata and manifests, and writes the
// arguments that its code passes on: C# widens arguments silently, and sources that describe
// themselves have narrower Booleans. So the layout that is declared may not be the one that
// is written, and nothing tells but the length of the payload.

// A fallback is another layout for the fields of an event, or nil if it would be the
// same.
type fallback func(fields []FieldDesc) []FieldDesc

// fallbacks are the ways in which layouts go wrong, in the order in which they are
// tried.
var fallbacks = [...]fallback{narrowed, widened, widest}

// narrowed is the layout of a self-describing source: a Boolean takes one byte, and
// binary data has its length before it in 2 bytes, in place of a field for it.
func narrowed(fields []FieldDesc) []FieldDesc {
	lengths := make(map[int]bool)
	changed := slices.Clone(fields)
	any := false
	for i := range changed {
		f := &changed[i]
		switch {
		case f.Count.Kind == SizeField || f.Count.Kind != SizeNone && f.Type != InBoolean:
			return nil
		case f.Type == InBoolean:
			f.Type, any = InBool8, true
		case f.Type == InBinary && f.Length.Kind == SizeField && f.Length.Up == 0:
			lengths[int(f.Length.N)] = true
			f.Type, f.Length, any = InCountedBinary, Size{}, true
		case f.Length.Kind == SizeField:
			return nil
		}
	}
	if !any {
		return nil
	}
	i := -1
	return slices.DeleteFunc(changed, func(FieldDesc) bool { i++; return lengths[i] })
}

// widened has integers and enums of less than 4 bytes as ones of 4.
func widened(fields []FieldDesc) []FieldDesc {
	return replaced(fields, func(f *FieldDesc) bool {
		switch f.Type {
		case InInt8, InInt16:
			f.Type = InInt32
		case InUInt8, InUInt16, InChar16:
			f.Type = InUInt32
		default:
			return false
		}
		f.Out = OutDefault
		return true
	})
}

// widest has all integers and enums as ones of 8 bytes, in an event of few fields. With
// a string among them it would fit by accident.
func widest(fields []FieldDesc) []FieldDesc {
	const few = 3
	if len(fields) > few || slices.ContainsFunc(fields, func(f FieldDesc) bool { return f.Type == InUnicodeString }) {
		return nil
	}
	return replaced(fields, func(f *FieldDesc) bool {
		switch f.Type {
		case InInt8, InInt16, InInt32:
			f.Type = InInt64
		case InUInt8, InUInt16, InUInt32, InChar16:
			f.Type = InUInt64
		case InPointer:
			f.Type = InHexInt64
		default:
			return false
		}
		f.Out, f.Map = OutDefault, nil
		return true
	})
}

// replaced returns fields with some of them changed, or nil if none is, or if one is
// an array or has its size from another one.
func replaced(fields []FieldDesc, change func(*FieldDesc) bool) []FieldDesc {
	changed := slices.Clone(fields)
	any := false
	for i := range changed {
		if f := &changed[i]; f.Count.Kind != SizeNone || f.Length.Kind == SizeField || f.Type == InStruct {
			return nil
		} else if change(f) {
			any = true
		}
	}
	if !any {
		return nil
	}
	return changed
}

// DecoderStats counts the records that a [Decoder] decoded by another layout than the
// one that is declared, since that one does not take exactly the payload, and the other
// one does. They are events of EventSources alone.
type DecoderStats struct {
	Narrowed uint64 // Booleans take 1 byte, and lengths of binary data 2
	Widened  uint64 // integers of less than 4 bytes take 4
	Widest   uint64 // integers take 8 bytes
	// Unfitting counts those that no layout takes exactly, and that were decoded as
	// far as the declared one goes.
	Unfitting uint64
}

// Stats returns the counts of the decoder so far.
func (d *Decoder) Stats() DecoderStats {
	return DecoderStats{d.fell[0], d.fell[1], d.fell[2], d.unfitting}
}

// fallBack decodes a record whose payload does not fit its description exactly by the first
// other layout that it is.
func (d *Decoder) fallBack(e *EventInfo, r *Record) bool {
	if !e.triedOthers {
		e.triedOthers = true
		for i, other := range fallbacks {
			if fields := other(e.Desc.Fields); fields != nil {
				desc := *e.Desc
				desc.Fields = fields
				e.others[i] = &desc
			}
		}
	}
	for i, desc := range e.others {
		if desc == nil {
			continue
		}
		if n, whole := d.other.strictly(desc, r.Payload, r.PointerSize); whole && n == len(r.Payload) {
			d.fell[i]++
			return true
		}
	}
	d.unfitting++
	return false
}
