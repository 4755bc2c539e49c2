package nettrace

import "github.com/etwgen/etwgen/runtime/etw"

// commonFields are the first fields of the records of the Linux kernel.
var commonFields = [...]etw.FieldDesc{
	{Name: "common_type", Type: etw.InUInt16},
	{Name: "common_flags", Type: etw.InUInt8},
	{Name: "common_preempt_count", Type: etw.InUInt8},
	{Name: "common_pid", Type: etw.InInt32},
}

// kernelFields returns the fields of an event of the kernel as far as they can be trusted, and reports whether it is one. The records are structures
// of C, and the declaration forgets that members lie at multiples of their size. It ends at the first array, which it declares as one element, or
// text elsewhere, which it declares as a number: so a last byte, or a last number without a sign, may be one. Each argument of a system call takes 8
// bytes.
func kernelFields(provider string, declared []etw.FieldDesc) (fields []etw.FieldDesc, is bool) {
	if len(declared) < len(commonFields) {
		return nil, false
	}
	for i, f := range commonFields {
		if declared[i].Name != f.Name || declared[i].Type != f.Type {
			return nil, false
		}
	}
	offset := 0
	for i, f := range declared {
		size := f.Type.Size(etw.Ptr64)
		doubtful := f.Type == etw.InUInt8 || f.Type == etw.InInt8 || f.Type == etw.InUInt32
		if size == 0 || f.Count.Kind != etw.SizeNone || i >= len(commonFields) && i == len(declared)-1 && doubtful {
			break
		}
		align := size
		if provider == "syscalls" && i > len(commonFields) {
			align = 8
		}
		at := (offset + align - 1) / align * align
		if at > offset {
			last := &fields[len(fields)-1]
			last.Room = uint16(at - offset + last.Type.Size(etw.Ptr64))
		}
		fields = append(fields, f)
		offset = at + size
	}
	return fields, true
}
