package main

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strconv"
	"unicode/utf16"
)

var (
	attributeValue = regexp.MustCompile(`="[^"]*"`)
	attributeWhole = regexp.MustCompile(` [A-Za-z:]+="[^"]*"`)
	emptyElement   = regexp.MustCompile(`<[a-zA-Z]+ [^<>]*/>`)
	digits         = regexp.MustCompile(`[0-9]+`)
)

// mutateText damages a manifest in a few places.
func mutateText(r *rand.Rand, text []byte) []byte {
	text = bytes.Clone(text)
	for range 1 + r.IntN(4) {
		text = mutateOnce(r, text)
	}
	return text
}

func mutateOnce(r *rand.Rand, text []byte) []byte {
	switch r.IntN(10) {
	case 0, 1, 2:
		return replaced(r, text, attributeValue, func([]byte) []byte { return []byte("=" + quoted(hostileName(r))) })
	case 3:
		return replaced(r, text, attributeWhole, func([]byte) []byte { return nil })
	case 4:
		return replaced(r, text, emptyElement, func([]byte) []byte { return nil })
	case 5:
		return replaced(r, text, emptyElement, func(e []byte) []byte { return append(bytes.Clone(e), e...) })
	case 6:
		extremes := []string{"0", "1", "-1", "255", "256", "65535", "65536", "4294967295", "4294967296", "18446744073709551616", "0x10", "1e9", ""}
		return replaced(r, text, digits, func([]byte) []byte { return []byte(extremes[r.IntN(len(extremes))]) })
	case 7: // what one attribute says, another one says
		values := attributeValue.FindAll(text, 200)
		return replaced(r, text, attributeValue, func(e []byte) []byte {
			if len(values) == 0 {
				return e
			}
			return bytes.Clone(values[r.IntN(len(values))])
		})
	case 8:
		if len(text) > 0 {
			text[r.IntN(len(text))] ^= 1 << r.IntN(8)
		}
	case 9:
		return otherEncoding(r, text)
	}
	return text
}

// replaced replaces one of the places that match.
func replaced(r *rand.Rand, text []byte, re *regexp.Regexp, by func([]byte) []byte) []byte {
	all := re.FindAllIndex(text, -1)
	if len(all) == 0 {
		return text
	}
	at := all[r.IntN(len(all))]
	out := append(bytes.Clone(text[:at[0]]), by(text[at[0]:at[1]])...)
	return append(out, text[at[1]:]...)
}

// otherEncoding mostly leaves the text as it is, cuts it, or writes it in UTF-16.
func otherEncoding(r *rand.Rand, text []byte) []byte {
	switch r.IntN(6) {
	case 0:
		return text[:r.IntN(len(text)+1)]
	case 1:
		out := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(string(text))) {
			out = append(out, byte(u), byte(u>>8))
		}
		return out
	case 2:
		return replaced(r, text, regexp.MustCompile(`utf-8`), func([]byte) []byte { return []byte("utf-" + strconv.Itoa(r.IntN(40))) })
	}
	return text
}
