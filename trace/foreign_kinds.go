package trace

import (
	"bytes"
	"encoding/binary"
)

// A foreign is a kind of file that is known by how it begins.
type foreign struct {
	is    string
	use   string // what to do with it
	begin string
	also  func(head []byte) bool // that it takes beside the begin; may be nil
}

const (
	useUnpack    = "unpack it first"
	useWireshark = "Wireshark and tshark read it"
	useDump      = "dotnet-dump analyze, lldb and windbg read it"
	useManifest  = "of an instrumentation manifest etwgen check says what is wrong with it, and --manifest FILE decodes events by it"
	useFolder    = "give the folder that it is in, with the file metadata"
)

// The kinds, where those that also look behind the begin stand before those that do not.
var foreigns = []foreign{
	{"a core dump of Linux", useDump, "\x7fELF", func(head []byte) bool { return elfType(head) == 4 }},
	{"a program or library of Linux (ELF)", "--symbols FOLDER takes names of code from it", "\x7fELF", nil},
	{"a core dump of macOS", "lldb reads it", "\xcf\xfa\xed\xfe", func(head []byte) bool { return len(head) > 12 && head[12] == 4 }},
	{"a program or library of macOS (Mach-O)", "nm lists its names", "\xcf\xfa\xed\xfe", nil},
	{"a minidump of Windows", useDump, "MDMP", nil},
	{"a crash dump of Windows", "windbg reads it", "PAGEDU", nil},
	{"a program or library of Windows (PE)", "etwgen import makes a manifest of the events that it declares, and --symbols FOLDER takes names of code from it", "MZ", isPE},
	{"a portable PDB", "--symbols FOLDER takes lines of code from it", "BSJB", nil},
	{"a PDB of native code", "--symbols FOLDER takes names of code from it", "Microsoft C/C++ MSF 7.00", nil},
	{"a database of SQLite", "sqlite3 reads it", "SQLite format 3\x00", nil},
	{"a capture of network packets (pcap)", useWireshark, "\xd4\xc3\xb2\xa1", nil},
	{"a capture of network packets (pcap)", useWireshark, "\xa1\xb2\xc3\xd4", nil},
	{"a capture of network packets (pcap)", useWireshark, "\x4d\x3c\xb2\xa1", nil},
	{"a capture of network packets (pcap)", useWireshark, "\xa1\xb2\x3c\x4d", nil},
	{"a capture of network packets (pcapng)", useWireshark, "\n\r\r\n", nil},
	{"a trace that TraceEvent or PerfView has converted (.etlx)", "give the .etl or .nettrace that it was made of", "\x14\x00\x00\x00!FastSerialization.1", func(head []byte) bool { return bytes.Contains(head, []byte("Tracing.Etlx")) }},
	{"a recording of Java (.jfr)", "jfr print reads it", "FLR\x00", nil},
	{"a dump of the heap of Java", "jhat and Eclipse MAT read it", "JAVA PROFILE 1.0.", nil},
	{"a trace of the scheduler of Go", "go tool trace reads it", "go 1.", func(head []byte) bool { return bytes.Contains(head, []byte(" trace\x00")) }},
	{"the metadata of a trace in CTF 2", "babeltrace2 reads its folder", "\x1e{", nil},
	{"a stream of a trace of LTTng (CTF)", useFolder, "\xc1\x1f\xfc\xc1", nil},
	{"a stream of a trace of LTTng (CTF)", useFolder, "\xc1\xfc\x1f\xc1", nil},
	{"a table of Parquet", "DuckDB and others read it", "PAR1", nil},
	{"packed by xz", "xz -d unpacks it", "\xfd7zXZ\x00", nil},
	{"packed by zstd", "zstd -d unpacks it", "\x28\xb5\x2f\xfd", nil},
	{"packed by lz4", "lz4 -d unpacks it", "\x04\x22\x4d\x18", nil},
	{"packed by bzip2", "bzip2 -d unpacks it", "BZh", func(head []byte) bool { return bytes.Contains(head, []byte("1AY&SY")) }},
	{"an archive of 7-Zip", useUnpack, "7z\xbc\xaf\x27\x1c", nil},
	{"a cabinet of Windows (.cab)", useUnpack, "MSCF\x00\x00\x00\x00", nil},
	{"an archive of RAR", useUnpack, "Rar!\x1a\x07", nil},
	{"a page of HTML", "a browser shows it", "<!DOCTYPE html", nil},
	{"a page of HTML", "a browser shows it", "<!doctype html", nil},
	{"XML", useManifest, "\xff\xfe<\x00?\x00", nil},
	{"XML", useManifest, "<", isElement},
	{"XML", useManifest, "\xef\xbb\xbf<", func(head []byte) bool { return isElement(head[3:]) }},
}

// isElement reports whether XML begins with its declaration, a comment or an element.
func isElement(head []byte) bool {
	return len(head) > 1 && (head[1] == '?' || head[1] == '!' || head[1] >= 'A' && head[1] <= 'z')
}

// elfType returns the type of an ELF file, -1 if the head is too short.
func elfType(head []byte) int {
	switch {
	case len(head) < 18:
		return -1
	case head[5] == 2: // big endian
		return int(binary.BigEndian.Uint16(head[16:]))
	}
	return int(binary.LittleEndian.Uint16(head[16:]))
}

// isPE reports whether the head of a program of DOS says where that of Windows is.
func isPE(head []byte) bool {
	if len(head) < 0x40 {
		return false
	}
	at := binary.LittleEndian.Uint32(head[0x3c:])
	return at >= 0x40 && at < 1<<16
}

// foreignOf returns the kind of a file that begins with head, or nil if it is of no other world.
func foreignOf(head []byte) *foreign {
	for i := range foreigns {
		f := &foreigns[i]
		if bytes.HasPrefix(head, []byte(f.begin)) && (f.also == nil || f.also(head)) {
			return f
		}
	}
	return nil
}
