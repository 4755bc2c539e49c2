// Package layout has the layouts of streams, for the reader and for the writer: each is
// read and appended here, or has its numbers here.
package layout

// A Kind is the kind of a block. The values are those of version 6; the object container of
// earlier versions spells them as type names.
type Kind uint8

const (
	KindEnd           Kind = 0
	KindTrace         Kind = 1
	KindEvents        Kind = 2
	KindMetadata      Kind = 3
	KindSequencePoint Kind = 4
	KindStacks        Kind = 5
	KindThreads       Kind = 6
	KindRemoveThreads Kind = 7
	KindLabels        Kind = 8
	KindUnknown       Kind = 0xff
)

var kindNames = [...]string{
	"end of stream", "trace header", "event block", "metadata block", "sequence point", "stack block", "thread block", "thread removal", "label block",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown block"
}

// The tags of the object container.
const (
	TagNull         = 1
	TagBegin        = 4 // netperf
	TagBeginPrivate = 5 // nettrace
	TagEnd          = 6
)

// ObjectNames has the types of the objects that blocks are in, by kind.
var ObjectNames = [...]string{
	KindTrace: "Trace", KindEvents: "EventBlock", KindMetadata: "MetadataBlock", KindSequencePoint: "SPBlock", KindStacks: "StackBlock",
}

// The magics of streams. Behind that of version 6 comes its minor version.
const (
	Magic3 = "\x14\x00\x00\x00!FastSerialization.1"
	Magic4 = "Nettrace" + Magic3
	Magic6 = "Nettrace\x00\x00\x00\x00\x06\x00\x00\x00"
)
