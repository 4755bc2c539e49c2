package manifest

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// TestNotWellFormed checks the place and the text of faults in the XML.
func TestNotWellFormed(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"empty", "", `1:1: not well-formed XML at the end of the file: no root element: this is not a manifest`},
		{"text before", "<?xml version='1.0'?>\n  x<a/>", `2:3: not well-formed XML at "x<a/>": text before the first element; remove it`},
		{"text after", "<a/>\n\ny", `3:1: not well-formed XML at "y": text after the last element; remove it`},
		{"two elements", "<a/>\n<b/>", `2:1: not well-formed XML at "<b/>": a second root element; a document has only one`},
		{"cut off", "<a>\n <b>\n", `3:1: not well-formed XML at the end of the file: element "b" of line 2 is not closed; is the file cut off?`},
		{"cut off in a tag", "<a>\n <b x='1'", `2:2: not well-formed XML at "<b x='1'": the tag is not closed by >; is the file cut off?`},
		{"cut off in a value", "<a>\n <b x='1/></a>", `2:11: not well-formed XML at "</a>": unescaped < inside the value of "x"; write &lt;, or close the quote`},
		{"cut off in the last value", "<a x='1/>", `1:6: not well-formed XML at "'1/>": the value of "x" is not closed by a quote; is the file cut off?`},
		{"wrong end", "<a>\n<b>\n </a></b>", `3:2: not well-formed XML at "</a></b>": element "b" of line 2 is still open here; close it first`},
		{"end without start", "<a/></a>", `1:5: not well-formed XML at "</a>": no element is open here; remove the end tag`},
		{"end with more", "<a></a b>", `1:4: not well-formed XML at "</a b>": an end tag has the form </name>`},
		{"quote in a value", `<a b="c"d"/>`, `1:9: not well-formed XML at "d\"/>": unescaped text directly after the value of "b"; inside a value write &quot; for ", and put a space between attributes`},
		{"quoted words in a value", `<a b=""c d"/>`, `1:8: not well-formed XML at "c d\"/>": unescaped text directly after the value of "b"; inside a value write &quot; for ", and put a space between attributes`},
		{"no space between attributes", `<a b="1"c="2"/>`, `1:9: not well-formed XML at "c=\"2\"/>": unescaped text directly after the value of "b"; inside a value write &quot; for ", and put a space between attributes`},
		{"no value", `<a b c="1"/>`, `1:4: not well-formed XML at "b c=\"1\"/>": attribute without a value, probably unescaped text; inside a value write &quot; for ", and put a space between attributes`},
		{"no name", `<a ="1"/>`, `1:4: not well-formed XML at "=\"1\"/>": not the name of an attribute, probably unescaped text; inside a value write &quot; for ", and put a space between attributes`},
		{"no quotes", `<a b=1/>`, `1:6: not well-formed XML at "1/>": the value of "b" is not in quotes`},
		{"less in text", `<a>1 < 2</a>`, `1:6: not well-formed XML at "< 2</a>": not the start of an element; a < in text is written &lt;`},
		{"unknown entity", "<a>\n<b c='&nbsp;'/></a>", `2:7: not well-formed XML at "&nbsp;'/></a>": not one of &amp; &lt; &gt; &quot; &apos; and &#number;; an & by itself is written &amp;`},
		{"bare ampersand", "<a>this & that</a>", `1:9: not well-formed XML at "& that</a>": not one of &amp; &lt; &gt; &quot; &apos; and &#number;; an & by itself is written &amp;`},
		{"character that is none", "<a>&#0;</a>", `1:4: not well-formed XML at "&#0;</a>": not one of &amp; &lt; &gt; &quot; &apos; and &#number;; an & by itself is written &amp;`},
		{"CDATA end", "<a>x]]>y</a>", `1:5: not well-formed XML at "]]>y</a>": ]]> outside CDATA; write ]]&gt;`},
		{"open CDATA", "<a><![CDATA[x</a>", `1:4: not well-formed XML at "<![CDATA[x</a>": the CDATA is not closed by ]]>`},
		{"CDATA outside", "<![CDATA[x]]><a/>", `1:1: not well-formed XML at "<![CDATA[x]]><a/>": CDATA outside the root element; remove it`},
		{"open comment", "<a><!-- x</a>", `1:4: not well-formed XML at "<!-- x</a>": the comment is not closed by -->`},
		{"dashes in a comment", "<a><!-- x -- y --></a>", `1:11: not well-formed XML at "-- y --></a>": -- inside a comment; remove a hyphen`},
		{"open instruction", "<a><?x </a>", `1:4: not well-formed XML at "<?x </a>": the processing instruction is not closed by ?>`},
		{"document type", "<!DOCTYPE a>\n<a/>", `1:1: not well-formed XML at "<!DOCTYPE a>": a manifest cannot have a document type declaration or entities of its own; remove it`},
		{"control character", "<a>\n \x01</a>", `2:2: character U+0001 is not allowed in XML; remove it`},
		{"no UTF-8", "<a>\n \xff</a>", `2:2: byte 0xff is not UTF-8; save the file as UTF-8`},
		{"noncharacter", "<a>\ufffe</a>", `1:4: character U+FFFE is not allowed in XML; remove it`},
		{"wrong encoding", "<?xml version='1.0' encoding='windows-1252'?><a>ü</a>", `1:46: not well-formed XML: xml: opening charset "windows-1252": the file is not in the encoding "windows-1252" that it declares, or etwgen does not know that encoding; save it as UTF-8`},
		{"UTF-16 that is none", "<?xml version='1.0' encoding='utf-16'?><a/>", `1:40: not well-formed XML: xml: opening charset "utf-16": the file is not in the encoding "utf-16" that it declares, or etwgen does not know that encoding; save it as UTF-8`},
		{"XML of the future", "<?xml version='2.0'?>\n<a/>", `1:22: not well-formed XML: xml: unsupported version "2.0"; only version 1.0 is supported`},
		{"name of symbols", "<a><b€/></a>", `1:9: not well-formed XML: invalid XML name: b€`},
		{"long line", `<a b="c"ddddddddddddddddddddddddddddddddddddddddddddddddddddddd"/>`, `1:9: not well-formed XML at "dddddddddddddddddddddddddddddddddddddddd"...: unescaped text directly after the value of "b"; inside a value write &quot; for ", and put a space between attributes`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, _, err := Parse("t.man", []byte(tt.src), Options{Lenient: true})
			if m != nil || err == nil {
				t.Fatalf("manifest %v, error %v", m, err)
			}
			if got := err.Error(); got != "t.man:"+tt.want {
				t.Errorf("got  %s\nwant t.man:%s", got, tt.want)
			}
		})
	}
}

// TestScanPlaces checks that all elements are found, whatever lies between.
func TestScanPlaces(t *testing.T) {
	if _, err := scan([]byte("<a/ >")); err == nil {
		t.Error("a slash that closes nothing is accepted")
	}
	places, err := scan([]byte("<?xml <no> ?>\r\n<!-- <no> \n -->\n<a b='>' c=\"'/>\"\n>\n\t<b:c/><![CDATA[<no>]]><d\n/><é></é>&amp;&#x41;\n</a >\n<!-- end -->\n"))
	if err != nil {
		t.Fatal(err.msg)
	}
	want := []place{{4, 1}, {6, 2}, {6, 24}, {7, 3}}
	if d := cmp.Diff(want, places, cmp.AllowUnexported(place{})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestUTF16 reads manifests in UTF-16.
func TestUTF16(t *testing.T) {
	src := `<?xml version="1.0" encoding="UTF-16"?>` + "\r\n" + withStrings(`<maps><valueMap name="M"><map value="1" message="$(string.s)"/></valueMap></maps>`, `<string id="s" value="ü€𝄞"/>`)
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		data := order.AppendUint16(nil, 0xfeff)
		for _, u := range utf16.Encode([]rune(src)) {
			data = order.AppendUint16(data, u)
		}
		for name, data := range map[string][]byte{"marked": data, "without a mark": data[2:]} {
			m, warnings, err := Parse("t.man", data, Options{})
			if err != nil || len(warnings) > 0 {
				t.Fatal(name, err, warnings)
			}
			entry := m.Providers[0].Maps[0].Entries[0]
			if entry.Message != "ü€𝄞" || entry.Pos.Line != 3 {
				t.Errorf("%s: %q at %v", name, entry.Message, entry.Pos)
			}
		}
		if _, _, err := Parse("t.man", data[:len(data)-1], Options{}); err == nil || !strings.Contains(err.Error(), "is the file cut off?") {
			t.Errorf("half a character: %v", err)
		}
		lone := order.AppendUint16(order.AppendUint16(order.AppendUint16(nil, 0xfeff), '\n'), 0xd834)
		lone = order.AppendUint16(lone, 'x')
		if _, _, err := Parse("t.man", lone, Options{}); err == nil || err.Error() != "t.man:2:1: unpaired surrogate; save the file as UTF-8" {
			t.Errorf("half a surrogate: %v", err)
		}
	}
}

// TestEncodingDeclaration checks that an encoding that differs in name only is
// accepted.
func TestEncodingDeclaration(t *testing.T) {
	for _, encoding := range []string{"utf-8", "UTF-8", "us-ascii", "ISO-8859-1", "windows-1252"} {
		mustParse(t, "<?xml version='1.0' encoding='"+encoding+"'?>"+inProvider(""), Options{})
	}
}
