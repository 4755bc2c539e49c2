package main

import (
	"archive/tar"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
)

// apkMachines are Alpine's names of processors.
var apkMachines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// apk returns a package for Alpine: a tar with facts, without its end, and one with the files,
// each packed by itself. It has no scripts and no signature: apk add --allow-untrusted.
func (p *pack) apk() ([]byte, error) {
	data, err := apkTar(p.when, p.files, true)
	if err != nil {
		return nil, err
	}
	facts := fmt.Sprintf(`pkgname = etwgen
pkgver = %s-r0
pkgdesc = traces of .NET and Windows, and typed Go events from manifests
url = https://github.com/etwgen/etwgen
builddate = %d
size = %d
arch = %s
license = MIT
datahash = %x
`, apkVersion(p.version), p.when.Unix(), p.size, apkMachines[p.arch], sha256.Sum256(data))
	control, err := apkTar(p.when, []file{{".PKGINFO", []byte(facts), 0o644}}, false)
	return append(control, data...), err
}

// apkTar returns files in a tar, packed. Those of the package itself have their sums beside them.
func apkTar(when time.Time, files []file, whole bool) ([]byte, error) {
	return packed(func(w io.Writer) error {
		t := tar.NewWriter(w)
		for _, f := range files {
			h := &tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: when, Typeflag: tar.TypeReg, Uname: "root", Gname: "root"}
			if whole {
				h.Format = tar.FormatPAX
				h.PAXRecords = map[string]string{"APK-TOOLS.checksum.SHA1": fmt.Sprintf("%x", sha1.Sum(f.data))}
			}
			if err := put(t, h, f.data); err != nil {
				return err
			}
		}
		if whole {
			return t.Close()
		}
		return t.Flush()
	})
}

var (
	pseudoVersion = regexp.MustCompile(`-(?:0\.)?(\d{8})\d{6}-[0-9a-f]{12}`)
	preRelease    = regexp.MustCompile(`-([a-z]+)\.?(\d*)`)
)

// apkVersion returns a version as Alpine orders it, which has words of its own for versions before
// a release: 0.1.0_rc1, and 0.1.0_git20261127 for a commit.
func apkVersion(version string) string {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "+")
	version = pseudoVersion.ReplaceAllString(version, "_git$1")
	return preRelease.ReplaceAllString(version, "_$1$2")
}
