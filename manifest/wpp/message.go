package wpp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/etwgen/etwgen/runtime/etw"
)

// message returns the text of a format in the form of [etw.EventDesc.Message]: the first field is
// %1, whatever its index in the file, and the known traits of the message stand there as text. It
// also has the fields shown as the text shows them: in hexadecimal, without a sign.
func (r *reader) message(f *format, d *etw.EventDesc, places map[int]int) string {
	line, isLine := strings.CutPrefix(d.Name, r.source+":")
	if !isLine {
		line = ""
	}
	named := map[string]string{
		"FUNC": d.TaskName, "LEVEL": f.traits["LEVEL"], "FLAGS": f.traits["FLAGS"],
		"FILE": r.source, "LINE": line, "COMPNAME": r.file.Desc.Name, "SUBCOMP": "",
	}
	text := strings.TrimLeft(strings.TrimPrefix(f.text, "%0"), " ") // where tracefmt has its prefix
	var b strings.Builder
	for text != "" {
		before, after, found := strings.Cut(text, "%")
		b.WriteString(before)
		if text = after; !found {
			break
		}
		if name, rest, ok := strings.Cut(strings.TrimPrefix(text, "!"), "!"); ok && text[0] == '!' {
			if value, known := named[name]; known {
				b.WriteString(strings.ReplaceAll(value, "%", "%%"))
				text = rest
				continue
			}
		}
		index, form, rest := insert(text)
		place := places[index]
		switch {
		case index < 0:
			b.WriteByte('%')
			if strings.HasPrefix(text, "!") {
				b.WriteByte('%')
			} else if text != "" { // %%, %n and the like
				_, n := utf8.DecodeRuneInString(text)
				b.WriteString(text[:n])
				text = text[n:]
			}
			continue
		case place == 0 || place > len(d.Fields) || place > 99:
			b.WriteString("%%" + text[:len(text)-len(rest)])
		default:
			show(&d.Fields[place-1], form)
			fmt.Fprintf(&b, "%%%d!%s!", place, form)
		}
		text = rest
	}
	return b.String()
}

// insert reads the number behind a %, and the form of the value, s where there is none. The
// number is -1 where there is none.
func insert(text string) (n int, form, rest string) {
	i := 0
	for i < len(text) && i < 4 && text[i] >= '0' && text[i] <= '9' {
		n, i = 10*n+int(text[i]-'0'), i+1
	}
	if i == 0 {
		return -1, "", text
	}
	form, rest = "s", text[i:]
	if rest != "" && rest[0] == '!' {
		if f, after, ok := strings.Cut(rest[1:], "!"); ok {
			form, rest = f, after
		}
	}
	return n, form, rest
}

// show has an integer shown as the form of printf has it.
func show(f *etw.FieldDesc, form string) {
	if f.Map != nil || f.Out != 0 || form == "" {
		return
	}
	types := [...]struct{ signed, unsigned, hex etw.InType }{
		{etw.InInt8, etw.InUInt8, etw.InUInt8}, {etw.InInt16, etw.InUInt16, etw.InUInt16},
		{etw.InInt32, etw.InUInt32, etw.InHexInt32}, {etw.InInt64, etw.InUInt64, etw.InHexInt64},
	}
	for i, t := range types {
		if f.Type != t.signed && f.Type != t.unsigned && f.Type != t.hex {
			continue
		}
		switch form[len(form)-1] {
		case 'x', 'X', 'p':
			f.Type = t.hex
			if i < 2 {
				f.Out = etw.OutHexInt8 + etw.OutType(i)
			}
		case 'u':
			f.Type = t.unsigned
		case 'd', 'i':
			f.Type = t.signed
		}
		return
	}
}

// maxMessage is how long a message may be before no more values are put into it.
const maxMessage = 64 << 10

// AppendMessage appends the text of a message with the values of its arguments, in the forms of
// printf that the program gives them; ptr is [etw.Record.PointerSize]. A status of the kernel
// has its name behind it where that is known. Values beyond 64 KiB of text are left out.
func AppendMessage(b []byte, e etw.Described, ptr etw.PtrSize) []byte {
	d, begin := e.EventDesc(), len(b)
	for text := d.Message; text != ""; {
		before, after, found := strings.Cut(text, "%")
		b = append(b, before...)
		if text = after; !found || text == "" {
			break
		}
		n, form, rest := insert(text)
		if n < 1 || n > len(d.Fields) {
			b, text = appendEscape(b, text[0]), text[1:]
			continue
		}
		text = rest
		if v := e.FieldValue(n - 1); v.Kind() != etw.ValueNone && len(b)-begin < maxMessage {
			b = appendForm(b, &d.Fields[n-1], v, form, ptr)
		}
	}
	return b
}

// appendEscape appends the character that a % and another one stand for.
func appendEscape(b []byte, c byte) []byte {
	switch c {
	case 'n':
		return append(b, '\n')
	case 't':
		return append(b, '\t')
	}
	return append(b, c)
}

// appendForm appends a value in a form of printf. The sizes of numbers are those of the values,
// whatever the form says.
func appendForm(b []byte, d *etw.FieldDesc, v etw.Value, form string, ptr etw.PtrSize) []byte {
	flags := form[:len(form)-len(strings.TrimLeft(form, "-+ #0123456789."))]
	if width, precision, _ := strings.Cut(strings.TrimLeft(flags, "-+ #0"), "."); len(width) > 3 || len(precision) > 3 {
		flags = ""
	}
	verb := byte('s')
	if form != "" {
		verb = form[len(form)-1]
	}
	switch v.Kind() {
	case etw.ValueInt, etw.ValueUint, etw.ValuePointer:
		bits := sizeOf(d.Type, ptr)
		n := v.Uint() << (64 - bits) >> (64 - bits)
		switch {
		case verb == 'd' || verb == 'i':
			return fmt.Appendf(b, "%"+flags+"d", int64(n<<(64-bits))>>(64-bits))
		case verb == 'u':
			return fmt.Appendf(b, "%"+flags+"d", n)
		case verb == 'p':
			return fmt.Appendf(b, "%0*X", bits/4, n)
		case verb == 'x' || verb == 'X' || verb == 'o' || verb == 'c':
			return fmt.Appendf(b, "%"+flags+string(verb), n)
		case d.Out == etw.OutNTStatus:
			return appendStatus(b, uint32(n))
		}
	case etw.ValueGUID:
		return append(append(append(b, '{'), v.GUID().String()...), '}')
	case etw.ValueFloat, etw.ValueFloat32:
		if strings.IndexByte("eEfFgG", verb) >= 0 {
			return fmt.Appendf(b, "%"+flags+string(verb), v.Float())
		}
	}
	return fmt.Appendf(b, "%"+strings.TrimLeft(flags, "+ #0")+"s", etw.AppendFieldPlain(nil, d, v))
}

// sizeOf returns how many bits a number has.
func sizeOf(t etw.InType, ptr etw.PtrSize) int {
	switch t {
	case etw.InInt8, etw.InUInt8:
		return 8
	case etw.InInt16, etw.InUInt16, etw.InChar16:
		return 16
	case etw.InInt32, etw.InUInt32, etw.InHexInt32:
		return 32
	case etw.InPointer:
		return 8 * ptr.Bytes()
	}
	return 64
}

// appendStatus appends a status as tracefmt does: 0xc0000022(STATUS_ACCESS_DENIED).
func appendStatus(b []byte, status uint32) []byte {
	b = fmt.Appendf(b, "0x%08x", status)
	for line := range strings.Lines(statuses) {
		number, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseUint(number, 16, 32); err == nil && uint32(n) == status {
			return append(append(append(b, "(STATUS_"...), name...), ')')
		}
	}
	return b
}

// statuses are those that drivers return most, without STATUS_.
const statuses = `00000000 SUCCESS
00000102 TIMEOUT
00000103 PENDING
80000005 BUFFER_OVERFLOW
80000006 NO_MORE_FILES
80000011 DEVICE_BUSY
8000001a NO_MORE_ENTRIES
c0000001 UNSUCCESSFUL
c0000002 NOT_IMPLEMENTED
c0000003 INVALID_INFO_CLASS
c0000004 INFO_LENGTH_MISMATCH
c0000005 ACCESS_VIOLATION
c0000008 INVALID_HANDLE
c000000d INVALID_PARAMETER
c000000e NO_SUCH_DEVICE
c000000f NO_SUCH_FILE
c0000010 INVALID_DEVICE_REQUEST
c0000011 END_OF_FILE
c0000013 NO_MEDIA_IN_DEVICE
c0000016 MORE_PROCESSING_REQUIRED
c0000017 NO_MEMORY
c0000022 ACCESS_DENIED
c0000023 BUFFER_TOO_SMALL
c0000024 OBJECT_TYPE_MISMATCH
c0000033 OBJECT_NAME_INVALID
c0000034 OBJECT_NAME_NOT_FOUND
c0000035 OBJECT_NAME_COLLISION
c000003a OBJECT_PATH_NOT_FOUND
c0000043 SHARING_VIOLATION
c0000056 DELETE_PENDING
c0000061 PRIVILEGE_NOT_HELD
c000007f DISK_FULL
c000009a INSUFFICIENT_RESOURCES
c000009c DEVICE_DATA_ERROR
c000009d DEVICE_NOT_CONNECTED
c00000a3 DEVICE_NOT_READY
c00000b5 IO_TIMEOUT
c00000ba FILE_IS_A_DIRECTORY
c00000bb NOT_SUPPORTED
c00000c0 DEVICE_DOES_NOT_EXIST
c0000101 DIRECTORY_NOT_EMPTY
c0000120 CANCELLED
c0000128 FILE_CLOSED
c0000135 DLL_NOT_FOUND
c000014b PIPE_BROKEN
c0000182 DEVICE_CONFIGURATION_ERROR
c0000184 INVALID_DEVICE_STATE
c0000185 IO_DEVICE_ERROR
c0000206 INVALID_BUFFER_SIZE
c0000225 NOT_FOUND
c000022d RETRY
c0000236 CONNECTION_REFUSED
c0000240 REQUEST_ABORTED
c00002b6 DEVICE_REMOVED
`
