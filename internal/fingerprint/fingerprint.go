// Package fingerprint tells whether a manifest is still the one that a package was
// generated from.
package fingerprint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Of returns the fingerprint of the manifest in a file and of the overrides beside it, which
// need not exist. Line ends of texts do not count, since git may change them.
func Of(manifest string) (string, error) {
	data, err := os.ReadFile(manifest)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	add := func(data []byte) {
		if bytes.IndexByte(data, 0) < 0 { // git takes it for a text, too
			data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		}
		fmt.Fprintf(h, "%d\n%s", len(data), data)
	}
	add(data)
	overrides := strings.TrimSuffix(manifest, filepath.Ext(manifest)) + ".overrides"
	if overrides != manifest {
		switch data, err := os.ReadFile(overrides); {
		case err == nil:
			add(data)
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}
