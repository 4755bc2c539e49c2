package parquet

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// How an export becomes visible. Its files are written in a folder that no other export has,
// brought to the disk and renamed to where they belong, under names that no other export has.
// That makes nobody see them: the lake has the files that manifests list, and the manifest comes
// last, by a rename as well. Of several exports of one recording that with the greatest run
// holds, and each removes the lower ones. So two at the same time do each other no harm, nobody
// has to hold a lock, and one that is killed leaves files of which no manifest speaks.

// makeFolder makes a folder, and those that it is in, which another export may remove again as
// long as they are empty.
func makeFolder(dir string) error {
	var err error
	for range 10 {
		if err = os.MkdirAll(dir, 0o777); !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	return err
}

// newRun returns the number of an export, which is greater than those of earlier ones, even if
// their clocks were ahead: when it is, in ms, and 48 bits that no other has.
func newRun(before []string) string {
	ms := time.Now().UnixMilli()
	for _, name := range before {
		run := runOf(name)
		if n, err := strconv.ParseInt(run[:runDigits/2], 16, 64); err == nil {
			ms = max(ms, n+1)
		}
	}
	var random [6]byte
	rand.Read(random[:])
	return fmt.Sprintf("%012x%s", ms, hex.EncodeToString(random[:]))
}

// runDigits is how many digits a run has.
const runDigits = 24

// A move is the rename of a file.
type move struct{ from, to string }

// commit brings files to the disk and to their places, and then the manifest. If it cannot, it
// leaves nothing of them.
func commit(manifest any, at, temp string, moves []move) error {
	err := bring(moves)
	if err == nil {
		err = writeManifest(manifest, at, temp)
	}
	if err != nil {
		_ = os.Remove(at)
		for _, x := range moves {
			_ = os.Remove(x.to)
		}
	}
	return err
}

// bring brings files to the disk and to their places.
func bring(moves []move) error {
	folders := make(map[string]bool)
	for _, m := range moves {
		folders[filepath.Dir(m.to)] = true
	}
	for dir := range folders {
		if err := makeFolder(dir); err != nil {
			return err
		}
	}
	err := together(len(moves), func(i int) error {
		now := time.Now() // since its last write, much may have been read
		if err := os.Chtimes(moves[i].from, now, now); err != nil {
			return err
		}
		if err := syncFile(moves[i].from); err != nil {
			return err
		}
		return os.Rename(moves[i].from, moves[i].to)
	})
	if err != nil {
		return err
	}
	var list []string
	for dir := range folders {
		list = append(list, dir)
	}
	return together(len(list), func(i int) error { return syncFolder(list[i]) })
}

// together does n things, some at the same time, as disks like it. It returns an error of one.
func together(n int, do func(i int) error) error {
	errs := make([]error, n)
	var wait sync.WaitGroup
	slots := make(chan bool, 64)
	for i := range n {
		slots <- true
		wait.Go(func() {
			errs[i] = do(i)
			<-slots
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// syncFile brings a file to the disk.
func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	err = f.Sync()
	if end := f.Close(); err == nil {
		err = end
	}
	return err
}

// syncFolder brings the names in a folder to the disk, where that is for programs to do.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) {
		return err
	}
	return nil
}

// writeManifest writes a manifest to its place, at once or not at all. temp is a folder for it until
// then.
func writeManifest(manifest any, at, temp string) error {
	b, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	name := filepath.Join(temp, filepath.Base(at))
	if err := os.WriteFile(name, append(b, '\n'), 0o666); err != nil {
		return err
	}
	if err := syncFile(name); err != nil {
		return err
	}
	dir := filepath.Dir(at)
	if err := makeFolder(dir); err != nil {
		return err
	}
	if err := os.Rename(name, at); err != nil {
		return err
	}
	return syncFolder(dir)
}

// removeOlder removes the exports of a recording that do not hold: the manifest first.
func removeOlder(dir, traceID string) error {
	runs, err := runsOf(dir, traceID)
	if err != nil {
		return err
	}
	for _, name := range runs[:max(0, len(runs)-1)] {
		if err := removeExport(dir, filepath.Join(manifestsOf(dir, traceID), name)); err != nil {
			return err
		}
	}
	return nil
}

// removeExport removes the export of the manifest in a file: that, and then its files. Files
// that are gone, another export has removed.
func removeExport(dir, at string) error {
	m, readErr := readManifest(at)
	if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if readErr == nil { // of another, the files have no manifest any more
		removeFiles(dir, m.Files)
	}
	return nil
}

// removeFiles removes files that nobody sees any more, as far as it can.
func removeFiles(dir string, files []*File) {
	for _, f := range files {
		if local := filepath.FromSlash(f.Path); filepath.IsLocal(local) {
			_ = os.Remove(filepath.Join(dir, local))
		}
	}
}
