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
// files that hold, and no others. The views are called as the folders without the text before
// the equals sign. root is the lake as DuckDB is to find it.
func (l *Lake) View(w io.Writer, root string) error {
	files := make(map[string][]string)
	for _, f := range l.Files() {
		folder, _, _ := strings.Cut(f.Path, "/")
		files[folder] = append(files[folder], f.Path)
	}
	out := bufio.NewWriter(w)
	for _, folder := range slices.Sorted(maps.Keys(files)) {
		_, name, _ := strings.Cut(folder, "=")
		out.WriteString("CREATE OR REPLACE VIEW " + quoteName(name) + " AS SELECT * FROM read_parquet([")
		for i, path := range files[folder] {
			if i > 0 {
				out.WriteString(",")
			}
			out.WriteString("\n  " + quoteText(globless(strings.TrimSuffix(filepath.ToSlash(root), "/")+"/"+path)))
		}
		out.WriteString("], union_by_name = true, hive_partitioning = false);\n")
	}
	return out.Flush()
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// globless returns a path that stands for itself in patterns of DuckDB.
func globless(path string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path)
}
