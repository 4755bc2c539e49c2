package xz

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// bakery is a text of which packed holds parts.
func bakery() string {
	var b strings.Builder
	x := uint32(1)
	for i := range 400 {
		x = (x*1103515245 + 12345) & 0x7fffffff
		fmt.Fprintf(&b, "oven %d bakes %d loaves; ", i, x>>16)
	}
	return b.String()
}

// Streams that the program xz made of parts of the text: by its default, with another model
// and CRC-32, and with SHA-256.
const (
	long = "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4BDSAfNdADediM6NbKPe+dHNP/SEiOjzBemed9Obhco1ps4xp2eLoBY3DIVwH7VIA3F7+GCYDcTr96" +
		"8b0aohMGSx26xMPu30uRQsAokRzl/+7onLuvS3b8ltQ1ACRCsE5V4rqiVoBdKu8hqvpIpacjJ46Pd6c38+GwVY9ndCrC9pB4F6gQp2/tPVarFc" +
		"DkCImfMZmNh9+F59xXGXvjJlGUSOhWLJwchh4DSqhYi1lFX3EYGRo+GS161UIHskz8zzq8IiePE8TuHyP2eQ6N6RDk8hVrp7AgWLl/rqIU/N7e" +
		"qsCy59ZHyu1B+kr8tzZ+oVLnLPibSuUAHNvv3F9PkYf683Vjy8JCxIoapilSLRm0xctPj1SqMN5NJoTZD+qABDCedHwZYhSSufGg0wDThKS3Zf" +
		"YKGRzR4iv0Z+g9QQGWgXgGZKf7Qkmd33w86Hiuhzc8rUQRPTP/QHJjDuykKbsvw9jTx8/lcpZXf0WfgXe7WWHGDm7nkykg7CqzFqWdZCTiiP8G" +
		"uyoHU9kJNCLat8UF2SkXFTDrJ1sGT+i3INSZ9C06AyUpt6e+GcIjiMytywHQOJPfntX3WB7BsbcmyjLdUM6++H+hBVceHox2sxPEo0EvNs707R" +
		"6NRnPHQ76BkClnGIN1ee0lxJd14M5YX7QWup5OpPp9ZNTewAAIgvwFuILoiqAAGPBNMhAACw7l3UscRn+wIAAAAABFla"
	model = "/Td6WFoAAAFpIt42AgAhAQAAAAA3J5fW4AJXALMSADeeddpDB/IJMGFV9vUwuRlq40/W4btnsAElOYgvpjosSW8Zp1tf4nkGC49XmB3w4xtj8i" +
		"vHTG0dg6dDeExuNz6kqgQD2cxcRAJjeG0KscvBC1oIbzO+8iP7et83swJ37DUOjqqVjNvqpAmHeY8eq5yZzmL2UHIzJ7u77q8oFoEaP9691vIA" +
		"8euZM4p8qN2g+AdOTS6xJq4tmvL7miqMCKI78aHIxMfhPwUuLs8TmtUo57YAAAAJRUryAAHLAdgEAACwKvNhPjANiwIAAAAAAVla"
	sum = "/Td6WFoAAArh+wyhAgAhARYAAAB0L+Wj4AErAGZdADediM6NbKPe+dHNP/SEiOjzBemed9Obhco1ps4xp2eLoBY3DIVwH7VIA3F7+GCYDcTr96" +
		"8b0aohMGSx26xMPu30uRQsAokRzl/+7onLuvS3b8ltQ1ACRCsE5V4rqiVoBdKu7PzkGAAAAFvrmeoALvWsco7jHAdO+SHy8hlin8iEkg9GohKi" +
		"RcApAAGaAawCAACbuvFGtunfHAIAAAAAClla"
)

func unpacked(t testing.TB, s string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestUnpack(t *testing.T) {
	text := bakery()
	for _, test := range []struct{ packed, want string }{
		{long, text[:2500] + strings.Repeat("bread ", 300) + "the end"}, {model, text[:600]}, {sum, text[:300]},
	} {
		b := unpacked(t, test.packed)
		got, err := Unpack(b, 1<<20)
		if err != nil || string(got) != test.want {
			t.Errorf("%d bytes, %v, want %d", len(got), err, len(test.want))
		}
		if _, err := Unpack(b, len(test.want)-1); !errors.Is(err, ErrSize) {
			t.Errorf("of more than is allowed: %v", err)
		}
		for i := range b {
			if _, err := Unpack(b[:i], 1<<20); err == nil && i < len(b)-40 {
				t.Errorf("%d of %d bytes are whole", i, len(b))
			}
			bad := bytes.Clone(b)
			bad[i] ^= 0x10
			if got, err := Unpack(bad, 1<<20); err == nil && string(got) != test.want {
				t.Errorf("with byte %d damaged it is another text", i)
			}
		}
	}
}

func FuzzUnpack(f *testing.F) {
	for _, s := range []string{long, model, sum} {
		f.Add(unpacked(f, s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if out, err := Unpack(b, 1<<20); err == nil && len(out) > 1<<20 {
			t.Errorf("%d bytes", len(out))
		}
	})
}
