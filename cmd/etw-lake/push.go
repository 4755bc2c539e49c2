package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/internal/each"
)

// atOnce is how many files are copied at a time.
const atOnce = 8

// push copies the files that hold, then the manifests of compactions, and then those of recordings: so
// whoever reads the bucket meanwhile finds each recording as it was, or as it is now.
func push(ctx context.Context, dir string, b *bucket, out io.Writer) error {
	l, err := parquet.OpenLake(dir)
	if err != nil {
		return err
	}
	for path, err := range l.Damaged {
		return fmt.Errorf("%s: %w", path, err)
	}
	r, err := l.Check()
	if err != nil {
		return err
	}
	if len(r.Missing) > 0 {
		return fmt.Errorf("%s, and %d more: nothing is copied", r.Missing[0], len(r.Missing)-1)
	}
	files := each.Of(l.Files(), func(f *parquet.File) string { return f.Path })
	compactions, recordings := l.ManifestPaths()
	sent := 0
	for _, step := range [][]string{files, compactions, recordings} {
		n, err := putAll(ctx, dir, b, step)
		if sent += n; err != nil {
			return fmt.Errorf("after %d objects: %w", sent, err)
		}
	}
	fmt.Fprintf(out, "%d recordings: %d objects copied, %d were there\n", len(l.Manifests), sent, len(files)+len(compactions)+len(recordings)-sent)
	return nil
}

// putAll copies files, some at a time, and returns how many it has copied. Names are of one export or one
// compaction alone, so that a name that is there has the same content.
func putAll(ctx context.Context, dir string, b *bucket, paths []string) (int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wait sync.WaitGroup
		lock sync.Mutex
		sent int
		errs []error
	)
	slots := make(chan bool, atOnce)
	for _, path := range paths {
		slots <- true
		if ctx.Err() != nil {
			break
		}
		wait.Go(func() {
			defer func() { <-slots }()
			did, err := putFile(ctx, dir, b, path)
			lock.Lock()
			defer lock.Unlock()
			if did {
				sent++
			}
			if err != nil && len(errs) == 0 {
				errs = append(errs, fmt.Errorf("%s: %w", path, err))
				cancel() // the others are for nothing
			}
		})
	}
	wait.Wait()
	if len(errs) == 0 && ctx.Err() != nil {
		errs = append(errs, ctx.Err())
	}
	return sent, errors.Join(errs...)
}

// putFile copies a file, unless it is there.
func putFile(ctx context.Context, dir string, b *bucket, path string) (bool, error) {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(path)))
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	size, err := b.size(ctx, path)
	if err != nil || size == info.Size() {
		return false, err
	}
	return true, b.put(ctx, path, f, info.Size())
}
