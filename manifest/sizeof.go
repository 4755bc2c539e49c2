package manifest

import "github.com/etwgen/etwgen/runtime/etw"

// Size returns how many bytes a payload of template t has at least, with
// pointers of size ptr, and whether all have exactly so many. A nil template has
// no payload.
func (t *Template) Size(ptr etw.PtrSize) (least int, exact bool) {
	if t == nil {
		return 0, true
	}
	d := etw.EventDesc{Fields: newDescriber().fields(&fieldScope{fields: t.Fields})}
	return d.Size(ptr)
}
