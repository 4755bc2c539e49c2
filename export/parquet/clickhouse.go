package parquet

import (
	"bufio"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// maxQuery is the size of a statement that ClickHouse is told to take: it refuses those of more than
// 256 kB by itself, and a view of thousands of files has a larger one.
const maxQuery = "SET max_query_size = 1000000000;\n"

// ClickHouse writes SQL for ClickHouse: the views of [Lake.View]. from returns a table function that reads
// the files of a pattern, which is a path from the lake, such as file('/lake/PATTERN', 'Parquet').
// The names of the files that hold are a condition of each view, by which ClickHouse chooses files
// before it opens one.
func (l *Lake) ClickHouse(w io.Writer, from func(pattern string) string) error {
	names := make(map[string][]string) // by folder
	stale := make(map[string]string)
	for _, f := range l.Files() {
		folder, name := folderOf(f.Path), escapedText(path.Base(f.Path))
		names[folder] = append(names[folder], name)
		if len(f.stale) > 0 {
			stale[folder] += "\nAND NOT (_file = " + name + " AND trace_id IN ('" + strings.Join(f.stale, "', '") + "'))"
		}
	}
	out := bufio.NewWriter(w)
	out.WriteString(maxQuery)
	for _, folder := range slices.Sorted(maps.Keys(names)) {
		_, name, _ := strings.Cut(folder, "=")
		out.WriteString("CREATE OR REPLACE VIEW " + escapedName(name) + " AS SELECT * FROM " + from(folder+"/*/*.parquet") +
			" WHERE _file IN (\n  " + strings.Join(names[folder], ",\n  ") + ")" + stale[folder] +
			"\nSETTINGS schema_inference_mode = 'union', use_hive_partitioning = 0;\n")
	}
	return out.Flush()
}

// To ClickHouse, a backslash escapes the next character, in texts and in names.
func escapedName(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}

func escapedText(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
