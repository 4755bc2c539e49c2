package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/etwgen/etwgen/export/parquet"
)

// clickhouse prints views for ClickHouse. They read the lake's folder, or the place that a named
// collection of the server has, which is a bucket with its keys, by one server or by all of a cluster: names
// has these two, as far as they are given.
func clickhouse(dir string, names []string, out io.Writer) error {
	l, err := parquet.OpenLake(dir)
	if err != nil {
		return err
	}
	for path, err := range l.Damaged {
		return fmt.Errorf("%s: %w", path, err)
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	return l.ClickHouse(out, func(pattern string) string {
		if len(names) == 0 {
			return "file(" + quoted(literal(filepath.ToSlash(root))+"/"+pattern) + ", 'Parquet')"
		}
		object := backquoted(names[0]) + ", filename = " + quoted(inURL(pattern)) + ", format = 'Parquet')"
		if len(names) == 1 {
			return "s3(" + object
		}
		return "s3Cluster(" + quoted(names[1]) + ", " + object
	})
}

// literal returns a path as a pattern that finds it. Patterns have no way to write the characters that mean
// something in them, but a question mark is each of these; names of files are compared in full.
func literal(path string) string {
	return strings.NewReplacer("*", "?", "{", "?", "}", "?").Replace(path)
}

// inURL returns a pattern as a part of a URL, which ClickHouse decodes before it reads it as a pattern.
func inURL(pattern string) string { return strings.ReplaceAll(pattern, "%", "%25") }

func quoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

func backquoted(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}
