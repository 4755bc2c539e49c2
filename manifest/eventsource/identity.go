package eventsource

import (
	"crypto/sha1"
	"encoding/binary"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An identity is the name and GUID of a source.
type identity struct {
	name           string
	guid           etw.GUID
	selfDescribing bool
}

// declared returns the contents of the attribute of a class.
func (c *class) declared() identity {
	id := identity{name: c.Name}
	if name, ok := c.text("Name"); ok {
		id.name = name
	}
	id.guid = nameGUID(id.name)
	if text, ok := c.text("Guid"); ok {
		if guid, ok := parseGUID(text); ok {
			id.guid = guid
		}
	}
	return id
}

// namespace is the one of the GUIDs that EventSource makes of names.
var namespace = []byte{0x48, 0x2c, 0x2d, 0xb2, 0xc3, 0x90, 0x47, 0xc8, 0x87, 0xf8, 0x1a, 0x15, 0xbf, 0xc1, 0x30, 0xfb}

// nameGUID returns the GUID that EventSource makes of a name.
func nameGUID(name string) etw.GUID {
	h := sha1.New()
	h.Write(namespace)
	upper := strings.Map(func(r rune) rune {
		if r == 'ı' {
			return r // only Turkish has an upper case for it that is a letter of its own
		}
		return unicode.ToUpper(r)
	}, name)
	var unit [2]byte
	for _, u := range utf16.Encode([]rune(upper)) {
		binary.BigEndian.PutUint16(unit[:], u)
		h.Write(unit[:])
	}
	g := etw.GUID(h.Sum(nil)[:16])
	g[7] = g[7]&0x0f | 0x50
	return g
}

// The forms in which .NET takes a GUID, apart from blanks around it: plain digits,
// groups with hyphens, the same in braces or parentheses, and groups as C writes them.
var (
	plainGUID  = regexp.MustCompile(`^[0-9a-fA-F]{32}$`)
	groupGUID  = regexp.MustCompile(`^(?:[0-9a-fA-F-]{36}|\{[0-9a-fA-F-]{36}\}|\([0-9a-fA-F-]{36}\))$`)
	structGUID = regexp.MustCompile(`^\{0x([0-9a-fA-F]{1,8}),0x([0-9a-fA-F]{1,4}),0x([0-9a-fA-F]{1,4}),` +
		`\{0x([0-9a-fA-F]{1,2}),0x([0-9a-fA-F]{1,2}),0x([0-9a-fA-F]{1,2}),0x([0-9a-fA-F]{1,2}),` +
		`0x([0-9a-fA-F]{1,2}),0x([0-9a-fA-F]{1,2}),0x([0-9a-fA-F]{1,2}),0x([0-9a-fA-F]{1,2})\}\}$`)
)

// parseGUID reads a GUID in any of these forms.
func parseGUID(s string) (etw.GUID, bool) {
	s = strings.TrimSpace(s)
	switch compact := strings.Join(strings.Fields(s), ""); {
	case plainGUID.MatchString(s):
	case groupGUID.MatchString(s):
		guid, err := etw.ParseGUID(strings.Trim(s, "{}()"))
		return guid, err == nil
	case structGUID.MatchString(compact):
		s = ""
		for i, digits := range structGUID.FindStringSubmatch(compact)[1:] {
			width := []int{8, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2}[i]
			s += strings.Repeat("0", width-len(digits)) + digits
		}
	default:
		return etw.GUID{}, false
	}
	guid, err := etw.ParseGUID(s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:])
	return guid, err == nil
}
