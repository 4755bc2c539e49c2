package dotnetreceiver

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// A folder has the files of profiles, of which the oldest make room for new ones.
type folder struct {
	dir      string
	maxFiles int
	maxBytes int64 // of one file
	mu       sync.Mutex
}

const unfinished = ".part"

var (
	ownFiles = regexp.MustCompile(`^(cpu|allocs)-.*-\d+-\d{8}T\d{6}Z-\d+\.pb\.gz(\.part)?$`)
	odd      = regexp.MustCompile(`[^A-Za-z0-9_.]+`)
)

// newFolder returns a folder, which is made if it is not there.
func newFolder(c *ProfilesConfig) (*folder, error) {
	if err := os.MkdirAll(c.Directory, 0o755); err != nil {
		return nil, err
	}
	f := &folder{dir: c.Directory, maxFiles: c.MaxFiles, maxBytes: int64(c.MaxFileMB) << 20}
	return f, f.prune(f.maxFiles)
}

// write writes a file, which has its name once it is whole.
func (f *folder) write(kind, program string, pid int64, write func(io.Writer) error) (path string, size int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.prune(f.maxFiles - 1); err != nil {
		return "", 0, err
	}
	program = strings.Trim(odd.ReplaceAllString(program, "_"), "_.")
	program = program[:min(len(program), 64)]
	pattern := fmt.Sprintf("%s-%s-%d-%s-*.pb.gz%s", kind, cmp.Or(program, "unknown"), pid, time.Now().UTC().Format("20060102T150405Z"), unfinished)
	file, err := os.CreateTemp(f.dir, pattern)
	if err != nil {
		return "", 0, err
	}
	out := &limited{w: file, left: f.maxBytes}
	err = errors.Join(write(out), file.Chmod(0o644), file.Close())
	path = strings.TrimSuffix(file.Name(), unfinished)
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		os.Remove(file.Name())
		return "", 0, err
	}
	return path, f.maxBytes - out.left, nil
}

// prune removes the oldest files, so that no more than so many are left. Others than
// ours are left alone.
func (f *folder) prune(most int) error {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return err
	}
	type own struct {
		name string
		at   time.Time
	}
	var list []own
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !ownFiles.MatchString(e.Name()) {
			continue
		}
		if strings.HasSuffix(e.Name(), unfinished) && time.Since(info.ModTime()) < time.Hour {
			continue // somebody may be at it
		}
		list = append(list, own{e.Name(), info.ModTime()})
	}
	slices.SortFunc(list, func(a, b own) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.name, b.name)) })
	for _, o := range list[:max(len(list)-most, 0)] {
		if err := os.Remove(filepath.Join(f.dir, o.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// limited refuses more bytes than a file may have.
type limited struct {
	w    io.Writer
	left int64
}

var errTooLarge = errors.New("it is larger than profiles: max_file_mb allows: a shorter profiles: duration makes it smaller")

func (l *limited) Write(p []byte) (int, error) {
	if int64(len(p)) > l.left {
		return 0, errTooLarge
	}
	n, err := l.w.Write(p)
	l.left -= int64(n)
	return n, err
}
