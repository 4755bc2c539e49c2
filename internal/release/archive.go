package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A file is one of an archive.
type file struct {
	name string
	data []byte
	mode os.FileMode
}

// filesOf returns the files of a folder.
func filesOf(dir string) ([]file, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: e.Name(), data: data, mode: 0o644})
	}
	return files, nil
}

// writeArchive writes files into one folder of an archive, in the order of their names and
// all of one time: nothing of the machine is in it.
func writeArchive(path string, zipped bool, folder string, when time.Time, files []file) error {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	var b bytes.Buffer
	pack, suffix := writeTar, ".tar.gz"
	if zipped {
		pack, suffix = writeZip, ".zip"
	}
	if err := pack(&b, folder, when, files); err != nil {
		return err
	}
	return os.WriteFile(path+suffix, b.Bytes(), 0o644)
}

func writeTar(w io.Writer, folder string, when time.Time, files []file) error {
	packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(packed)
	for _, f := range files {
		h := &tar.Header{Name: folder + "/" + f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: when, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if err := put(t, h, f.data); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), packed.Close())
}

// treeTar writes files with the folders that they are in, all of root, below a prefix. Everybody
// may write into a folder tmp.
func treeTar(w io.Writer, prefix string, when time.Time, files []file) error {
	t, made := tar.NewWriter(w), map[string]bool{}
	folder := func(name string) error {
		if made[name] || prefix+name == "" {
			return nil
		}
		made[name] = true
		mode := int64(0o755)
		if name == "tmp/" {
			mode = 0o1777
		}
		return t.WriteHeader(&tar.Header{Name: prefix + name, Mode: mode, ModTime: when, Typeflag: tar.TypeDir, Uname: "root", Gname: "root", Format: tar.FormatGNU})
	}
	if err := folder(""); err != nil {
		return err
	}
	for _, f := range files {
		for i, c := range f.name {
			if c == '/' {
				if err := folder(f.name[:i+1]); err != nil {
					return err
				}
			}
		}
		h := &tar.Header{Name: prefix + f.name, Mode: int64(f.mode & os.ModePerm), Size: int64(len(f.data)), ModTime: when, Typeflag: tar.TypeReg, Uname: "root", Gname: "root", Format: tar.FormatGNU}
		if err := put(t, h, f.data); err != nil {
			return err
		}
	}
	return t.Close()
}

// put writes a file of a tar.
func put(t *tar.Writer, h *tar.Header, data []byte) error {
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err := t.Write(data)
	return err
}

func writeZip(w io.Writer, folder string, when time.Time, files []file) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		h := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: when}
		h.SetMode(f.mode)
		to, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := to.Write(f.data); err != nil {
			return err
		}
	}
	return z.Close()
}

// writeSums writes the check sums of all files of a folder, as sha256sum -c reads them.
func writeSums(dir string) error {
	files, err := filesOf(dir)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, f := range files {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(f.data), f.name)
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), b.Bytes(), 0o644)
}
