package fetch

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

var errOther = errors.New("fetch: the file is of another build")

// look returns the path of a file in a folder, if it is there and is the one that the key
// means. A file that is only there as a cabinet is unpacked into the store.
func (f *Finder) look(k Key, folder, store string) (string, bool) {
	for _, dir := range layouts(k, folder) {
		if f.isWhole(k, dir) {
			return dir, true
		}
		cabinet := filepath.Join(filepath.Dir(dir), packed(filepath.Base(dir)))
		if store == "" || k.buildID != "" || !isRegular(cabinet) {
			continue
		}
		path, err := f.keep(k, store, func(temp *os.File) error {
			in, err := os.Open(cabinet)
			if err != nil {
				return err
			}
			defer in.Close()
			return unpack(temp, in, k.limit(f.limits.File))
		})
		if err == nil {
			return path, true
		}
		f.tell(Event{Key: k, From: cabinet, Err: err})
	}
	return "", false
}

// layouts returns the paths that a file may have in a folder: those of stores of two and of
// three tiers, which may be in lower case, those of debuginfod's clients and of debug files,
// and those of plain folders, as debuggers look for them.
func layouts(k Key, folder string) []string {
	var all []string
	lower := strings.ToLower(k.Name)
	for _, name := range unique(k.Name, lower) {
		for _, id := range unique(k.ID, strings.ToLower(k.ID)) {
			all = append(all, filepath.Join(folder, name, id, name))
			if isRegular(filepath.Join(folder, "index2.txt")) {
				all = append(all, filepath.Join(folder, name[:min(2, len(name))], name, id, name))
			}
		}
	}
	if k.buildID != "" {
		all = append(all, filepath.Join(folder, k.buildID, k.part))
		if k.part == partDebug {
			all = append(all, filepath.Join(folder, ".build-id", k.buildID[:2], k.buildID[2:]+".debug"))
		}
		return all
	}
	for _, name := range unique(k.Name, lower) {
		all = append(all, filepath.Join(folder, name), filepath.Join(folder, name, k.ID, "msfz0", name))
		for _, ext := range []string{"dll", "exe", "sys"} {
			all = append(all, filepath.Join(folder, "symbols", ext, name), filepath.Join(folder, ext, name))
		}
	}
	return all
}

func unique(a, b string) []string {
	if a == b {
		return []string{a}
	}
	return []string{a, b}
}

// isWhole reports whether there is a file that the key means. That it is of another build
// is no fault in a folder.
func (f *Finder) isWhole(k Key, path string) bool {
	if !isRegular(path) {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		f.tell(Event{Key: k, From: path, Err: err})
		return false
	}
	defer file.Close()
	return checkFile(k, file) == nil
}

func checkFile(k Key, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return k.Check(file, info.Size())
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// keep puts a file into a store: under a name that nobody looks for, until all of it is
// there and it is the one that the key means.
func (f *Finder) keep(k Key, store string, fill func(*os.File) error) (string, error) {
	path := filepath.Join(store, k.Name, k.ID, k.Name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".part-*")
	if err != nil {
		return "", err
	}
	err = fill(temp)
	if err == nil {
		err = checkFile(k, temp)
	}
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return "", errors.Join(err, ignoreMissing(os.Remove(temp.Name())))
	}
	return path, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// keptMissing is how long a server is not asked again for a file that it does not have.
const keptMissing = 24 * time.Hour

// missingPath returns the file that says that a server does not have another one.
func missingPath(k Key, store, server string) string {
	h := fnv.New64a()
	_, _ = io.WriteString(h, server) // a hash takes all
	return filepath.Join(store, k.Name, k.ID, fmt.Sprintf(".missing-%016x", h.Sum64()))
}

// isMissing reports whether a server said not long ago that it does not have a file.
func (f *Finder) isMissing(k Key, store, server string) bool {
	info, err := os.Stat(missingPath(k, store, server))
	return err == nil && f.now().Sub(info.ModTime()) < keptMissing
}

// noteMissing notes that a server does not have a file.
func (f *Finder) noteMissing(k Key, store, server string) error {
	path := missingPath(k, store, server)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(server+"\n"), 0o644); err != nil {
		return err
	}
	now := f.now()
	return os.Chtimes(path, now, now)
}
