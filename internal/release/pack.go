package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// A pack is what packages for Linux are made of: the files of an archive, where such systems
// look for them.
type pack struct {
	target
	version string
	when    time.Time
	files   []file // in the order of their names
}

func newPack(t target, version string, when time.Time, files []file) (*pack, error) {
	p := &pack{target: t, version: version, when: when}
	var legal bytes.Buffer
	for _, f := range files {
		name := path.Base(f.name)
		program := strings.TrimPrefix(strings.TrimSuffix(name, path.Ext(name)), "_")
		switch dir := path.Dir(f.name); {
		case f.name == "LICENSE" || f.name == "NOTICES":
			legal.Write(f.data)
			legal.WriteByte('\n')
			continue
		case strings.HasPrefix(dir, "man/"):
			var err error
			if f.data, err = packedBytes(f.data); err != nil {
				return nil, err
			}
			f.name = "usr/share/" + dir + "/" + name + ".gz"
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
		p.files = append(p.files, f)
	}
	p.files = append(p.files, file{"usr/share/doc/etwgen/copyright", legal.Bytes(), 0o644})
	slices.SortFunc(p.files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return p, nil
}

// packed returns what write writes as gzip packs it, without a name or a time.
func packed(write func(io.Writer) error) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	err = errors.Join(write(w), w.Close())
	return b.Bytes(), err
}

func packedBytes(data []byte) ([]byte, error) {
	return packed(func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
