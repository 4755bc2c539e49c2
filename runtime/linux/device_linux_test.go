package linux

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/device"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/internal/universal"
)

// A file of a process that has ended is identified if it is the one by device and number.
func TestEndedIdentity(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.dll")
	testio.Write(t, path, stampedPE(t))
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	const ended = 1<<30 + 5 // a number that no process has
	if text := identity(ended, &universal.Area{Path: path, Device: device.Of(info)}); !strings.Contains(text, `"type":"PE"`) {
		t.Errorf("%q", text)
	}
	for _, device := range []string{"", "00:00 1"} {
		if text := identity(ended, &universal.Area{Path: path, Device: device}); text != "" {
			t.Errorf("device %q: %q", device, text)
		}
	}
}
