package look

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/manifest/wevt"
	"github.com/etwgen/etwgen/runtime/etw"
)

// messageFiles are the message tables of programs and libraries of Windows. Sources of the old
// API of event logs have their texts there, and so have parameters such as %%1832. Which file is
// that of a source, only the registry of its machine says.
type messageFiles struct {
	paths []string // of files and folders
	read  bool
	files []messageFile
	torn  map[string]bool // messages that several files have, with different texts
}

// A messageFile is one of them.
type messageFile struct {
	names []string // without an extension, in small letters: that of the file and of its folder
	texts map[uint32]string
}

// load reads the files, when the first text is asked for.
func (m *messageFiles) load() {
	m.read, m.torn = true, make(map[string]bool)
	for _, path := range m.paths {
		_ = filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
			ext := strings.ToLower(filepath.Ext(path))
			if err == nil && d.Type().IsRegular() && slices.Contains([]string{".dll", ".exe", ".sys", ".mui"}, ext) {
				m.add(path)
			}
			return nil // a file that cannot be read has no texts
		})
	}
}

func (m *messageFiles) add(path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	res, _ := wevt.ReadPE(f) // whose error is that it has no templates, or no resources at all
	texts := res.Texts()
	if len(texts) == 0 {
		return
	}
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".mui")
	name = strings.TrimSuffix(name, filepath.Ext(name))
	m.files = append(m.files, messageFile{[]string{name, strings.ToLower(filepath.Base(filepath.Dir(path)))}, texts})
}

// text returns a message of a source: of the file that has its name, or is in a folder that has
// it, and else of all files, if they agree.
func (m *messageFiles) text(source string, id uint32) (text string) {
	if !m.read {
		m.load()
	}
	source = strings.ToLower(source)
	for _, f := range m.files {
		if t, ok := f.texts[id]; ok && source != "" && slices.Contains(f.names, source) {
			return t
		}
	}
	for _, f := range m.files {
		switch t, ok := f.texts[id]; {
		case ok && text != "" && t != text:
			m.torn[fmt.Sprintf("%s %#x", source, id)] = true
			return ""
		case ok:
			text = t
		}
	}
	return text
}

// of returns the values of a record of a source with these qualifiers as its message takes them, or
// nil.
func (m *messageFiles) of(s *pick.Shot, qualifiers []byte) etw.Described {
	if len(qualifiers) != 2 {
		return nil
	}
	text := m.text(s.ProviderName, uint32(binary.LittleEndian.Uint16(qualifiers))<<16|uint32(s.ID))
	if text == "" {
		return nil
	}
	c := &classic{}
	c.desc.Message = text
	fields := s.Values.EventDesc().Fields
	for i := range fields {
		f := fields[i]
		v := s.Values.FieldValue(i)
		switch {
		case f.Type == etw.InBinary || i+1 < len(fields) && fields[i+1].Type == etw.InBinary: // no insert, and its length
		case v.Kind() == etw.ValueArray:
			f.Count = etw.Size{}
			for e := range v.Elements() {
				c.desc.Fields, c.values = append(c.desc.Fields, f), append(c.values, e)
			}
		default:
			c.desc.Fields, c.values = append(c.desc.Fields, f), append(c.values, v)
		}
	}
	return c
}

// A classic is the inserts of a message of a source, one by one.
type classic struct {
	desc   etw.EventDesc
	values []etw.Value
}

func (c *classic) EventDesc() *etw.EventDesc  { return &c.desc }
func (c *classic) FieldValue(i int) etw.Value { return c.values[i] }

// parameters puts the texts of parameters such as %%1832 in their places.
func (m *messageFiles) parameters(b []byte) []byte {
	text := string(b)
	if !strings.Contains(text, "%%") {
		return b
	}
	b = b[:0]
	for {
		before, after, ok := strings.Cut(text, "%%")
		if b = append(b, before...); !ok {
			return b
		}
		digits := len(after) - len(strings.TrimLeft(after, "0123456789"))
		id, err := strconv.ParseUint(after[:digits], 10, 32)
		t := ""
		if err == nil {
			t = strings.TrimRight(m.text("", uint32(id)), "\r\n")
		}
		if t == "" {
			t, digits = "%%", 0
		}
		b, text = append(b, t...), after[digits:]
	}
}

// report says that there are texts of which none is known to be the right one.
func (m *messageFiles) report(cmd *cobra.Command) {
	if n := len(m.torn); n > 0 {
		one := slices.Min(slices.Collect(maps.Keys(m.torn)))
		cli.Report(cmd, fmt.Errorf("%d messages, such as %s, have another text in each of several files: name the right file, or a folder with it, as the source is called", n, one))
	}
}

// A messaged is values with the message of another description.
type messaged struct {
	etw.Described
	desc *etw.EventDesc
}

func (m messaged) EventDesc() *etw.EventDesc { return m.desc }
