package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// apkMachines are Alpine's names of processors.
var apkMachines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// apk returns a package for Alpine: a tar with facts, without its end, and one with the files,
// each packed by itself. It has no scripts and no signature: apk add --allow-untrusted.
func apk(t target, version string, when time.Time, files []file) ([]byte, error) {
	placed, err := placed(files)
	if err != nil {
		return nil, err
	}
	size := 0
	for _, f := range placed {
		size += len(f.data)
	}
	data, err := apkTar(when, placed, true)
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
`, apkVersion(version), when.Unix(), size, apkMachines[t.arch], sha256.Sum256(data))
	control, err := apkTar(when, []file{{".PKGINFO", []byte(facts), 0o644}}, false)
	return append(control, data...), err
}

// apkTar returns files in a tar, packed. Those of the package itself have their sums beside them.
func apkTar(when time.Time, files []file, whole bool) ([]byte, error) {
	var b bytes.Buffer
	packed, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(packed)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: when, Typeflag: tar.TypeReg, Uname: "root", Gname: "root"}
		if whole {
			h.Format = tar.FormatPAX
			h.PAXRecords = map[string]string{"APK-TOOLS.checksum.SHA1": fmt.Sprintf("%x", sha1.Sum(f.data))}
		}
		if err := put(t, h, f.data); err != nil {
			return nil, err
		}
	}
	end := t.Flush
	if whole {
		end = t.Close
	}
	err = errors.Join(end(), packed.Close())
	return b.Bytes(), err
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
