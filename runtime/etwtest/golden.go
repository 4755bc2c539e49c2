package etwtest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Golden checks events against a file with a line for each type: its name, a payload of it in
// hexadecimal, with pointers of 8 bytes, and the text of the event. Decoding the payload must
// give the text, and encoding the event the payload. Text after # is a comment.
func Golden(t testing.TB, file string, types ...etw.Event) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	named := make(map[string]etw.Event, len(types))
	for _, e := range types {
		named[reflect.TypeOf(e).Elem().Name()] = e
	}
	for line := range strings.Lines(string(text)) {
		if line[0] == '#' {
			continue
		}
		parts := strings.SplitN(strings.TrimRight(line, "\r\n"), " ", 3)
		e := named[parts[0]]
		if e == nil || len(parts) != 3 {
			t.Errorf("%s: %q is of no event", file, line)
			continue
		}
		delete(named, parts[0])
		if err := golden(New(e), parts[1], parts[2]); err != nil {
			t.Errorf("%s: %s: %v", file, parts[0], err)
		}
	}
	for name := range named {
		t.Errorf("%s has no %s", file, name)
	}
}

func golden(e etw.Event, payload, text string) error {
	want, err := hex.DecodeString(strings.TrimPrefix(payload, "0x"))
	if err != nil {
		return err
	}
	if n, err := e.DecodePayload(want, etw.Ptr64); err != nil || n != len(want) {
		return fmt.Errorf("read %d of %d bytes: %v", n, len(want), err)
	}
	if got := fmt.Sprint(e); got != text {
		return fmt.Errorf("decoded as\n%s, want\n%s", got, text)
	}
	if got, err := e.AppendPayload(nil, etw.Ptr64); err != nil || !bytes.Equal(got, want) {
		return fmt.Errorf("encoded as\n%x, want\n%x (%v)", got, want, err)
	}
	return nil
}
