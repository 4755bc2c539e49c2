package universal

import "strings"

// fileIDs numbers the files that are mapped, by identity.
type fileIDs struct {
	byPlace map[string]uint64
	byText  map[string]uint64
}

// of returns the number of the file of an area, 0 if nothing identifies it, and its identity
// if that was not told yet.
func (f *fileIDs) of(host Host, pid int32, a *Area) (id uint64, text string) {
	if !strings.HasPrefix(a.Path, "/") || strings.HasPrefix(a.Path, "/memfd:") {
		return 0, ""
	}
	if f.byPlace == nil {
		f.byPlace, f.byText = make(map[string]uint64), make(map[string]uint64)
	}
	place := a.Path + "\x00" + a.Device + "\x00" + string(a.BuildID)
	identified := a.Device != "" || len(a.BuildID) > 0
	if id, ok := f.byPlace[place]; ok && identified {
		return id, ""
	}
	text = host.Identify(pid, a)
	if text != "" {
		var known bool
		if id, known = f.byText[a.Path+"\x00"+text]; known {
			text = ""
		} else {
			id = uint64(len(f.byText)) + 1
			f.byText[a.Path+"\x00"+text] = id
		}
	}
	if identified {
		f.byPlace[place] = id
	}
	return id, text
}
