package parquet

import (
	"bufio"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// View writes SQL for DuckDB: a view of each type of events and of each table, which reads the
// files that hold, and no others, without the rows of compactions in whose place others have come.
// The views are called as the folders without the text before the equals sign. root is the lake as
// DuckDB is to find it.
func (l *Lake) View(w io.Writer, root string) error {
	views := make(map[string][]string)
	add := func(files []*File, stale []string) {
		paths := make(map[string][]string)
		for _, f := range files {
			paths[folderOf(f.Path)] = append(paths[folderOf(f.Path)], quoteText(globless(strings.TrimSuffix(filepath.ToSlash(root), "/")+"/"+f.Path)))
		}
		for folder, list := range paths {
			sql := "SELECT * FROM read_parquet([\n  " + strings.Join(list, ",\n  ") + "], union_by_name = true, hive_partitioning = false)"
			if len(stale) > 0 {
				sql += " WHERE trace_id NOT IN ('" + strings.Join(stale, "', '") + "')"
			}
			views[folder] = append(views[folder], sql)
		}
	}
	var whole []*File
	for _, f := range l.Files() {
		if len(f.stale) == 0 {
			whole = append(whole, f)
		}
	}
	add(whole, nil)
	for _, c := range l.compactions {
		if len(c.live) > 0 && len(c.stale) > 0 {
			add(c.Files, c.stale)
		}
	}
	out := bufio.NewWriter(w)
	for _, folder := range slices.Sorted(maps.Keys(views)) {
		_, name, _ := strings.Cut(folder, "=")
		out.WriteString("CREATE OR REPLACE VIEW " + quoteName(name) + " AS " + strings.Join(views[folder], "\nUNION ALL BY NAME ") + ";\n")
	}
	return out.Flush()
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// globless returns a path that stands for itself in patterns of DuckDB.
func globless(path string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path)
}
