package manifest

import (
	"cmp"
	"strconv"
)

// A Pos is a place in a file. Line and Col count from 1; Col counts bytes, or for a UTF-16
// file those of its UTF-8 form. The zero Pos belongs to definitions of Windows that no
// manifest declares.
type Pos struct {
	File string
	Line int
	Col  int
}

// IsValid reports whether p is a place.
func (p Pos) IsValid() bool { return p.Line > 0 }

// String returns p as file:line:col.
func (p Pos) String() string {
	if !p.IsValid() {
		return cmp.Or(p.File, "-")
	}
	s := strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Col)
	if p.File == "" {
		return s
	}
	return p.File + ":" + s
}

// compare orders places by file, then line, then column.
func (p Pos) compare(q Pos) int {
	switch {
	case p.File != q.File:
		if p.File < q.File {
			return -1
		}
		return 1
	case p.Line != q.Line:
		return p.Line - q.Line
	}
	return p.Col - q.Col
}
