package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"io"
	"strings"
)

// deb returns a package for Debian, Ubuntu and systems made of them. It has no scripts.
func (p *pack) deb() ([]byte, error) {
	sums := new(bytes.Buffer)
	for _, f := range p.files {
		fmt.Fprintf(sums, "%x  %s\n", md5.Sum(f.data), f.name)
	}
	control := fmt.Sprintf(`Package: etwgen
Version: %s
Architecture: %s
Maintainer: The etwgen authors <etwgen@users.noreply.github.com>
Installed-Size: %d
Section: devel
Priority: optional
Homepage: https://github.com/etwgen/etwgen
Description: traces of .NET and Windows, and typed Go events from manifests
 etw opens, records and explains traces of .NET (.nettrace) and of Windows
 (.etl) on any system. etwgen makes Go packages of event manifests.
`, debVersion(p.version), p.arch, (p.size+1023)/1024)
	tree := func(files []file) ([]byte, error) {
		return packed(func(w io.Writer) error { return treeTar(w, "./", p.when, files) })
	}
	head, err := tree([]file{{"control", []byte(control), 0o644}, {"md5sums", sums.Bytes(), 0o644}})
	if err != nil {
		return nil, err
	}
	data, err := tree(p.files)
	if err != nil {
		return nil, err
	}
	b := bytes.NewBufferString("!<arch>\n")
	for _, m := range []file{{"debian-binary", []byte("2.0\n"), 0o644}, {"control.tar.gz", head, 0o644}, {"data.tar.gz", data, 0o644}} {
		fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", m.name, p.when.Unix(), 0, 0, 0o100644, len(m.data))
		b.Write(m.data)
		if len(m.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes(), nil
}

// debVersion returns a version as Debian orders it: versions before a release sort so.
func debVersion(version string) string {
	return strings.ReplaceAll(strings.TrimPrefix(version, "v"), "-", "~")
}
