package main

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// The types of entries of an RPM header.
const (
	rpmInt16       = 3
	rpmInt32       = 4
	rpmString      = 6
	rpmBinary      = 7
	rpmStringArray = 8
	rpmI18NString  = 9
)

// The tags of entries, as rpm numbers them.
const (
	rpmHeaderSignatures, rpmHeaderImmutable    = 62, 63
	rpmSHA256, rpmSigSize, rpmSigMD5           = 273, 1000, 1004
	rpmSigPayloadSize                          = 1007
	rpmI18NTable                               = 100
	rpmName, rpmVersion, rpmRelease            = 1000, 1001, 1002
	rpmSummary, rpmDescription, rpmBuildTime   = 1004, 1005, 1006
	rpmSize, rpmLicense, rpmGroup, rpmURL      = 1009, 1014, 1016, 1020
	rpmOS, rpmArch                             = 1021, 1022
	rpmFileSizes, rpmFileModes, rpmFileRDevs   = 1028, 1030, 1033
	rpmFileTimes, rpmFileDigests, rpmFileLinks = 1034, 1035, 1036
	rpmFileFlags, rpmFileUsers, rpmFileGroups  = 1037, 1039, 1040
	rpmSourceRPM, rpmFileVerify                = 1044, 1045
	rpmProvideName                             = 1047
	rpmRequireFlags, rpmRequireName            = 1048, 1049
	rpmRequireVersion                          = 1050
	rpmFileDevices, rpmFileInodes              = 1095, 1096
	rpmFileLangs                               = 1097
	rpmProvideFlags, rpmProvideVersion         = 1112, 1113
	rpmDirIndexes, rpmBaseNames, rpmDirNames   = 1116, 1117, 1118
	rpmPayloadFormat, rpmPayloadCompressor     = 1124, 1125
	rpmPayloadFlags                            = 1126
	rpmFileDigestAlgo                          = 5011
	rpmPayloadDigest, rpmPayloadDigestAlgo     = 5092, 5093
)

// An rpmHeader collects the entries of a header.
type rpmHeader struct {
	entries []rpmEntry
}

type rpmEntry struct {
	tag, kind, count int
	data             []byte
}

func (h *rpmHeader) text(tag, kind int, text string) {
	h.entries = append(h.entries, rpmEntry{tag, kind, 1, append([]byte(text), 0)})
}

func (h *rpmHeader) texts(tag int, texts ...string) {
	var b []byte
	for _, text := range texts {
		b = append(append(b, text...), 0)
	}
	h.entries = append(h.entries, rpmEntry{tag, rpmStringArray, len(texts), b})
}

func (h *rpmHeader) numbers(tag int, numbers ...uint32) {
	var b []byte
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	h.entries = append(h.entries, rpmEntry{tag, rpmInt32, len(numbers), b})
}

func (h *rpmHeader) shorts(tag int, numbers ...uint16) {
	var b []byte
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	h.entries = append(h.entries, rpmEntry{tag, rpmInt16, len(numbers), b})
}

func (h *rpmHeader) bytes(tag int, data []byte) {
	h.entries = append(h.entries, rpmEntry{tag, rpmBinary, len(data), data})
}

// encode returns the header, as a region that rpm checks as a whole: its tag comes first, and
// the trailer of the data points back over all entries.
func (h *rpmHeader) encode(region int) []byte {
	slices.SortStableFunc(h.entries, func(a, b rpmEntry) int { return cmp.Compare(a.tag, b.tag) })
	entry := func(b []byte, tag, kind, at, count int) []byte {
		for _, n := range []int{tag, kind, at, count} {
			b = binary.BigEndian.AppendUint32(b, uint32(int32(n)))
		}
		return b
	}
	var index, data []byte
	for _, e := range h.entries {
		for align := map[int]int{rpmInt16: 2, rpmInt32: 4}[e.kind]; align > 0 && len(data)%align != 0; {
			data = append(data, 0)
		}
		index = entry(index, e.tag, e.kind, len(data), e.count)
		data = append(data, e.data...)
	}
	first := entry(nil, region, rpmBinary, len(data), 16)
	data = entry(data, region, rpmBinary, -16*(len(h.entries)+1), 16)
	b := []byte{0x8e, 0xad, 0xe8, 1, 0, 0, 0, 0}
	b = binary.BigEndian.AppendUint32(b, uint32(len(h.entries)+1))
	b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
	return slices.Concat(b, first, index, data)
}

// rpmMachines are the names of processors, and the numbers in the lead, which nobody reads any more.
var rpmMachines = map[string]struct {
	name   string
	number uint16
}{"amd64": {"x86_64", 1}, "arm64": {"aarch64", 19}}

// rpm returns a package for Fedora, openSUSE and systems made of them. It has no scripts and
// no signature.
func (p *pack) rpm() ([]byte, error) {
	payload := cpio(p.when, p.files)
	compressed, err := packedBytes(payload)
	if err != nil {
		return nil, err
	}
	machine, number := rpmMachines[p.arch], debVersion(p.version)
	h := rpmAbout(machine.name, number, p.when)
	h.files(p.when, p.files)
	h.texts(rpmPayloadDigest, fmt.Sprintf("%x", sha256.Sum256(compressed)))
	header := h.encode(rpmHeaderImmutable)

	sums := &rpmHeader{}
	sums.text(rpmSHA256, rpmString, fmt.Sprintf("%x", sha256.Sum256(header)))
	sums.numbers(rpmSigSize, uint32(len(header)+len(compressed)))
	all := md5.Sum(slices.Concat(header, compressed))
	sums.bytes(rpmSigMD5, all[:])
	sums.numbers(rpmSigPayloadSize, uint32(len(payload)))
	signature := sums.encode(rpmHeaderSignatures)
	for len(signature)%8 != 0 {
		signature = append(signature, 0)
	}

	lead := make([]byte, 96)
	copy(lead, "\xed\xab\xee\xdb\x03\x00")
	binary.BigEndian.PutUint16(lead[8:], machine.number)
	copy(lead[10:75], "etwgen-"+number+"-1")
	binary.BigEndian.PutUint16(lead[76:], 1) // Linux
	binary.BigEndian.PutUint16(lead[78:], 5) // a header of signatures follows
	return slices.Concat(lead, signature, header, compressed), nil
}

// rpmAbout returns a header with all but the files.
func rpmAbout(machine, number string, when time.Time) *rpmHeader {
	h := &rpmHeader{}
	h.texts(rpmI18NTable, "C")
	for tag, text := range map[int]string{
		rpmName: "etwgen", rpmVersion: number, rpmRelease: "1", rpmLicense: "MIT", rpmURL: "https://github.com/etwgen/etwgen", rpmOS: "linux", rpmArch: machine,
		rpmSourceRPM: "etwgen-" + number + "-1.src.rpm", rpmPayloadFormat: "cpio", rpmPayloadCompressor: "gzip", rpmPayloadFlags: "9",
	} {
		h.text(tag, rpmString, text)
	}
	h.text(rpmSummary, rpmI18NString, "traces of .NET and Windows, and typed Go events from manifests")
	h.text(rpmDescription, rpmI18NString, "etw opens, records and explains traces of .NET (.nettrace) and of Windows\n(.etl) on any system. etwgen makes Go packages of event manifests.")
	h.text(rpmGroup, rpmI18NString, "Development/Tools")
	h.numbers(rpmBuildTime, uint32(when.Unix()))
	const less, equal, ofRPM = 1 << 1, 1 << 3, 1 << 24
	h.texts(rpmProvideName, "etwgen")
	h.texts(rpmProvideVersion, number+"-1")
	h.numbers(rpmProvideFlags, equal)
	h.texts(rpmRequireName, "rpmlib(CompressedFileNames)", "rpmlib(FileDigests)", "rpmlib(PayloadFilesHavePrefix)")
	h.texts(rpmRequireVersion, "3.0.4-1", "4.6.0-1", "4.0-1")
	h.numbers(rpmRequireFlags, less|equal|ofRPM, less|equal|ofRPM, less|equal|ofRPM)
	const ofSHA256 = 8
	h.numbers(rpmFileDigestAlgo, ofSHA256)
	h.numbers(rpmPayloadDigestAlgo, ofSHA256)
	return h
}

// files adds the files, as columns.
func (h *rpmHeader) files(when time.Time, files []file) {
	n := len(files)
	var sizes, inodes, folders []uint32
	var modes []uint16
	var sums, bases, names []string
	all := uint32(0)
	for i, f := range files {
		dir := "/" + path.Dir(f.name) + "/"
		at := slices.Index(names, dir)
		if at < 0 {
			at, names = len(names), append(names, dir)
		}
		all += uint32(len(f.data))
		sizes, inodes, folders = append(sizes, uint32(len(f.data))), append(inodes, uint32(i+1)), append(folders, uint32(at))
		modes, sums, bases = append(modes, uint16(0o100000|f.mode)), append(sums, fmt.Sprintf("%x", sha256.Sum256(f.data))), append(bases, path.Base(f.name))
	}
	h.numbers(rpmSize, all)
	h.numbers(rpmFileSizes, sizes...)
	h.shorts(rpmFileModes, modes...)
	h.shorts(rpmFileRDevs, make([]uint16, n)...)
	h.numbers(rpmFileTimes, slices.Repeat([]uint32{uint32(when.Unix())}, n)...)
	h.texts(rpmFileDigests, sums...)
	h.texts(rpmFileLinks, make([]string, n)...)
	h.numbers(rpmFileFlags, make([]uint32, n)...)
	h.texts(rpmFileUsers, slices.Repeat([]string{"root"}, n)...)
	h.texts(rpmFileGroups, slices.Repeat([]string{"root"}, n)...)
	h.numbers(rpmFileVerify, slices.Repeat([]uint32{0xffffffff}, n)...)
	h.numbers(rpmFileDevices, slices.Repeat([]uint32{1}, n)...)
	h.numbers(rpmFileInodes, inodes...)
	h.texts(rpmFileLangs, make([]string, n)...)
	h.numbers(rpmDirIndexes, folders...)
	h.texts(rpmBaseNames, bases...)
	h.texts(rpmDirNames, names...)
}

// cpio returns files in the form of the payload, "newc".
func cpio(when time.Time, files []file) []byte {
	var b bytes.Buffer
	align := func() {
		for b.Len()%4 != 0 {
			b.WriteByte(0)
		}
	}
	add := func(number int, name string, mode, links uint32, at int64, data []byte) {
		b.WriteString("070701")
		for _, field := range []uint32{uint32(number), mode, 0, 0, links, uint32(at), uint32(len(data)), 0, 0, 0, 0, uint32(len(name) + 1), 0} {
			fmt.Fprintf(&b, "%08x", field)
		}
		b.WriteString(name + "\x00")
		align()
		b.Write(data)
		align()
	}
	for i, f := range files {
		add(i+1, "./"+strings.TrimPrefix(f.name, "/"), 0o100000|uint32(f.mode), 1, when.Unix(), f.data)
	}
	add(0, "TRAILER!!!", 0, 1, 0, nil)
	return b.Bytes()
}
