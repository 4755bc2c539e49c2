package tracepoints

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/etwgen/etwgen/internal/tracepoint"
	"github.com/etwgen/etwgen/runtime/etw"
)

// ParseFormat reads a kernel's format of one of its events, the text of its file format.
// group is the event's group, which the text does not have.
func ParseFormat(group string, data []byte) (*etw.EventDesc, error) {
	return tracepoint.Parse(group, data)
}

// Formats reads the files format below a folder of events, such as
// os.DirFS("/sys/kernel/tracing/events"), each in the folder of its event, in that of its
// group. It returns a provider for each group.
func Formats(events fs.FS) ([]*etw.Provider, error) {
	paths, err := fs.Glob(events, "*/*/format")
	if err != nil {
		return nil, err
	}
	var list []*etw.Provider
	for _, file := range paths { // in the order of their names
		data, err := fs.ReadFile(events, file)
		if err != nil {
			return nil, err
		}
		group := path.Base(path.Dir(path.Dir(file)))
		d, err := ParseFormat(group, data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if n := len(list); n == 0 || list[n-1].Desc.Name != group {
			list = append(list, &etw.Provider{Desc: d.Provider})
		}
		p := list[len(list)-1]
		d.Provider = p.Desc
		p.Events = append(p.Events, d)
	}
	return list, nil
}
