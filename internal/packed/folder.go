package packed

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"sync"
)

// Folder packs the files of a folder into an archive, which is the same for the same files.
func Folder(folder fs.FS) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	if err := errors.Join(err, z.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Files returns the files of an archive, read when they are first asked for. It panics if this is
// damaged: it is a part of the program.
func Files(archive string) func() fs.FS {
	return sync.OnceValue(func() fs.FS {
		z, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
		if err != nil {
			panic(err)
		}
		return z
	})
}
