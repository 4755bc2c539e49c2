package session

import (
	"encoding/binary"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etw"
)

// The types of filters, EVENT_FILTER_TYPE_... of Windows.
const (
	filterSchematized   = 0x80000000
	filterPID           = 0x80000004
	filterExecutable    = 0x80000008
	filterPackageID     = 0x80000010
	filterPackageApp    = 0x80000020
	filterPayload       = 0x80000100
	filterEventID       = 0x80000200
	filterStackID       = 0x80001000
	filterEventName     = 0x80000400
	filterStackName     = 0x80002000
	filterStackKeywords = 0x80004000
)

// Limits of filters.
const (
	maxFilters     = 8
	maxFilterPIDs  = 8
	maxFilterIDs   = 64
	maxFilterData  = 1024
	maxPayloadData = 4096
)

// An encodedFilter is the data of one filter.
type encodedFilter struct {
	typ  uint32
	data []byte
}

// encode returns the filters in the form of Windows.
func (e *Enablement) encode() (list []encodedFilter, err error) {
	f := &e.Filters
	add := func(typ uint32, data []byte) {
		limit := maxFilterData
		if typ == filterPayload {
			limit = maxPayloadData
		}
		switch {
		case len(data) == 0:
		case len(data) > limit:
			err = fmt.Errorf("a filter of %d bytes; it has %d at most", len(data), limit)
		default:
			list = append(list, encodedFilter{typ, data})
		}
	}
	switch {
	case len(f.PIDs) > maxFilterPIDs:
		return nil, fmt.Errorf("%d processes to filter by; %d are the most", len(f.PIDs), maxFilterPIDs)
	case len(f.Arguments) > 0 && len(f.Schematized) > 0:
		return nil, fmt.Errorf("arguments and a schematized filter, of which there may be one")
	case e.Timeout < 0 || e.Timeout > time.Hour:
		return nil, fmt.Errorf("a timeout of %v", e.Timeout)
	}
	var pids []byte
	for _, pid := range f.PIDs {
		pids = binary.LittleEndian.AppendUint32(pids, pid)
	}
	add(filterPID, pids)
	for _, names := range []struct {
		typ  uint32
		list []string
	}{{filterExecutable, f.Executables}, {filterPackageID, f.PackageIDs}, {filterPackageApp, f.PackageApps}} {
		add(names.typ, encodeTexts(names.list))
	}
	add(filterPayload, f.Payload)
	for _, ids := range []struct {
		typ uint32
		*IDFilter
	}{{filterEventID, f.IDs}, {filterStackID, f.StackIDs}} {
		data, failed := ids.encode()
		if failed != nil {
			return nil, failed
		}
		add(ids.typ, data)
	}
	add(filterEventName, f.Names.encode())
	add(filterStackName, f.StackNames.encode())
	if f.StackKeywords != nil {
		add(filterStackKeywords, f.StackKeywords.encode(nil))
	}
	add(filterSchematized, f.Schematized)
	add(filterSchematized, encodeArguments(f.Arguments))
	if err == nil && len(list) > maxFilters {
		err = fmt.Errorf("%d filters; %d are the most", len(list), maxFilters)
	}
	return list, err
}

// encodeTexts joins names by semicolons, in UTF-16 with a NUL.
func encodeTexts(names []string) []byte {
	if len(names) == 0 {
		return nil
	}
	return append(etw.AppendUTF16(nil, strings.Join(names, ";")), 0, 0)
}

// encode returns EVENT_FILTER_EVENT_ID.
func (f *IDFilter) encode() ([]byte, error) {
	switch {
	case f == nil:
		return nil, nil
	case len(f.IDs) == 0 || len(f.IDs) > maxFilterIDs:
		return nil, fmt.Errorf("a filter of %d ids; it has 1 to %d", len(f.IDs), maxFilterIDs)
	}
	b := []byte{filterIn(f.Except), 0}
	b = binary.LittleEndian.AppendUint16(b, uint16(len(f.IDs)))
	for _, id := range f.IDs {
		b = binary.LittleEndian.AppendUint16(b, id)
	}
	return b, nil
}

func filterIn(except bool) byte {
	if except {
		return 0
	}
	return 1
}

// encode appends EVENT_FILTER_LEVEL_KW, which EVENT_FILTER_EVENT_NAME begins with, too.
func (f *KeywordFilter) encode(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, f.Keywords)
	b = binary.LittleEndian.AppendUint64(b, f.AllKeywords)
	return append(b, byte(f.Level), filterIn(f.Except))
}

// encode returns EVENT_FILTER_EVENT_NAME.
func (f *NameFilter) encode() []byte {
	if f == nil {
		return nil
	}
	b := f.KeywordFilter.encode(nil)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(f.Names)))
	for _, name := range f.Names {
		b = append(append(b, name...), 0)
	}
	return b
}

// encodeArguments returns names and values one after the other, each with a NUL, in the
// order of the names.
func encodeArguments(arguments map[string]string) []byte {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		b = append(append(b, name...), 0)
		b = append(append(b, arguments[name]...), 0)
	}
	return b
}

// enable makes the call that e asks for.
func (e *Enablement) enable(sys system, handle uint64, provider etw.GUID) (Code, error) {
	filters, err := e.encode()
	if err != nil {
		return 0, err
	}
	var pinned runtime.Pinner
	defer pinned.Unpin()
	p := &enableParameters{version: 2, property: uint32(e.Properties), sourceID: e.SourceID}
	if len(filters) > 0 {
		descriptors := make([]filterDescriptor, len(filters))
		for i, f := range filters {
			pinned.Pin(&f.data[0])
			descriptors[i] = filterDescriptor{
				data: uint64(uintptr(unsafe.Pointer(&f.data[0]))), size: uint32(len(f.data)), filterType: f.typ}
		}
		pinned.Pin(&descriptors[0])
		p.filters, p.filterCount = &descriptors[0], uint32(len(descriptors))
	}
	timeout := uint32(e.Timeout / time.Millisecond)
	c := sys.enableTrace(handle, &provider, enableEnable, e.Level, e.Keywords, e.AllKeywords, timeout, p)
	if c == codeSuccess && e.CaptureState {
		c = sys.enableTrace(handle, &provider, enableCaptureState, 0, 0, 0, timeout, &enableParameters{version: 2})
	}
	return c, nil
}
