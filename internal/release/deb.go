package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// deb returns a package for Debian, Ubuntu and systems made of them: the files of an archive,
// where such systems look for them. It has no scripts.
func deb(t target, version string, when time.Time, files []file) ([]byte, error) {
	placed, err := placed(files)
	if err != nil {
		return nil, err
	}
	size, sums := 0, new(bytes.Buffer)
	for _, f := range placed {
		size += len(f.data)
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
`, debVersion(version), t.arch, (size+1023)/1024)
	var head, data bytes.Buffer
	err = errors.Join(
		debTar(&head, when, []file{{"control", []byte(control), 0o644}, {"md5sums", sums.Bytes(), 0o644}}),
		debTar(&data, when, placed))
	if err != nil {
		return nil, err
	}
	b := bytes.NewBufferString("!<arch>\n")
	for _, m := range []file{{"debian-binary", []byte("2.0\n"), 0o644}, {"control.tar.gz", head.Bytes(), 0o644}, {"data.tar.gz", data.Bytes(), 0o644}} {
		fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", m.name, when.Unix(), 0, 0, 0o100644, len(m.data))
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

// placed returns the files of an archive under the names that they have on a Linux.
func placed(files []file) ([]file, error) {
	var list []file
	var legal bytes.Buffer
	for _, f := range files {
		name := path.Base(f.name)
		program := strings.TrimPrefix(strings.TrimSuffix(name, path.Ext(name)), "_")
		switch dir := path.Dir(f.name); {
		case f.name == "LICENSE" || f.name == "NOTICES":
			legal.Write(f.data)
			legal.WriteByte('\n')
			continue
		case dir == "man/man1":
			packed, err := packed(f.data)
			if err != nil {
				return nil, err
			}
			f.data, f.name = packed, "usr/share/man/man1/"+name+".gz"
		case dir == "completions" && strings.HasSuffix(name, ".bash"):
			f.name = "usr/share/bash-completion/completions/" + program
		case dir == "completions" && strings.HasSuffix(name, ".fish"):
			f.name = "usr/share/fish/vendor_completions.d/" + name
		case dir == "completions" && strings.HasPrefix(name, "_"):
			f.name = "usr/share/zsh/vendor-completions/" + name
		case dir == "completions":
			continue // of PowerShell
		case f.mode&0o111 != 0:
			f.name = "usr/bin/" + name
		default:
			f.name = "usr/share/doc/etwgen/" + name
		}
		list = append(list, f)
	}
	list = append(list, file{"usr/share/doc/etwgen/copyright", legal.Bytes(), 0o644})
	slices.SortFunc(list, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return list, nil
}

// packed returns data as gzip packs it, without a name or a time.
func packed(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(data)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

// debTar writes files with the folders that they are in, packed.
func debTar(w io.Writer, when time.Time, files []file) error {
	packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(treeTar(packed, "./", when, files), packed.Close())
}
