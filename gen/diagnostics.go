package gen

import "github.com/etwgen/etwgen/manifest"

// diagnostics collects the errors in generating a package.
type diagnostics struct{ list manifest.ErrorList }

// add adds an error msg on a thing, which stands at pos.
func (d *diagnostics) add(pos manifest.Pos, what, msg string) {
	if what != "" {
		msg = what + ": " + msg
	}
	d.list = append(d.list, &manifest.Error{Pos: pos, Msg: msg})
}

// err returns all of them in the order of the file, or nil if there are none.
func (d *diagnostics) err() error {
	if len(d.list) == 0 {
		return nil
	}
	d.list.Sort()
	return d.list
}
