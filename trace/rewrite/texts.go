package rewrite

import (
	"encoding/binary"
	"slices"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// Names of texts that are in no field of an event.
var (
	sessionNames     = []string{"SessionNameString", "SessionName", "LoggerName"} // in the header of an .etl file
	logFileNames     = []string{"LogFileNameString", "LogFileName"}
	userNames        = []string{"UserSID"} // beside an event
	containerNames   = []string{"ContainerID"}
	threadNames      = []string{"ThreadName"} // in the table of threads of .nettrace 6
	neededHeaderKeys = []string{"ProcessId", "HardwareThreadCount", "ExpectedCPUSamplingRate"}
)

// header replaces the texts in the header of an .etl file.
func (x *Redactor) header(h *etl.Header) {
	if x.plan.takes(sessionNames) {
		h.SessionName = x.maskText(h.SessionName)
	}
	if x.plan.takes(logFileNames) {
		h.LogFileName = x.maskText(h.LogFileName)
	}
}

// keys returns keys and values of a .nettrace 6 with those replaced that are named. The
// numbers that a trace needs are not among them.
func (x *Redactor) keys(list []nettrace.KeyValue) []nettrace.KeyValue {
	list = slices.Clone(list)
	for i := range list {
		if kv := &list[i]; !slices.Contains(neededHeaderKeys, kv.Key) && x.plan.takes([]string{kv.Key}) {
			kv.Value = x.mask(kv.Value, len(kv.Value))
		}
	}
	return list
}

// thread returns a row of the table of threads with its texts replaced.
func (x *Redactor) thread(row *nettrace.Thread) *nettrace.Thread {
	if row == nil || len(x.plan.names) == 0 || row.Name == "" && len(row.Keys) == 0 {
		return row
	}
	if masked, ok := x.threads[row]; ok {
		return masked
	}
	masked := *row
	if x.plan.takes(threadNames) {
		masked.Name = x.mask(row.Name, len(row.Name))
	}
	masked.Keys = x.keys(row.Keys)
	if x.threads == nil || len(x.threads) > maxThreadRows {
		x.threads = make(map[*nettrace.Thread]*nettrace.Thread)
	}
	x.threads[row] = &masked
	return &masked
}

// maxThreadRows bounds the rows that are remembered.
const maxThreadRows = 1 << 16

// extended replaces the texts in the items beside an event that have names. Items of an .etl
// are changed where they lie, since their record is copied as it stands; those of a
// .nettrace are of several events.
func (x *Redactor) extended(rec *etw.Record) {
	copied := false
	for i, item := range rec.Extended {
		switch item.Type {
		case etw.ExtSID:
			if x.plan.takes(userNames) {
				clear(item.Data[min(8, len(item.Data)):])
			}
		case etw.ExtContainerID:
			if x.plan.takes(containerNames) {
				copy(item.Data, x.mask(string(item.Data), len(item.Data)))
			}
		case nettrace.ExtLabel, nettrace.ExtLabelInt:
			name, value, ok := nettrace.ParseLabel(item)
			if !ok || !x.plan.takes([]string{name}) {
				continue
			}
			if !copied {
				rec.Extended, copied = slices.Clone(rec.Extended), true
			}
			data := append(binary.AppendUvarint(nil, uint64(len(name))), name...)
			if text, isText := value.(string); isText {
				data = append(data, x.mask(text, len(text))...)
			} else {
				data = append(data, make([]byte, 8)...)
			}
			rec.Extended[i].Data = data
		}
	}
}
