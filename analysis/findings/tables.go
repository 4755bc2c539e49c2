package findings

import "github.com/etwgen/etwgen/analysis/table"

// Table returns findings as a table.
func Table(list []Finding) table.View {
	return table.Of("finding", "Findings", table.Refs(list),
		table.Text("severity", func(f *Finding) string { return string(f.Severity) }),
		table.Text("id", func(f *Finding) string { return f.ID }),
		table.Text("part", func(f *Finding) string { return f.Part }),
		table.ID("pid", func(f *Finding) int64 { return f.PID }),
		table.NameOf("process", table.Process, func(f *Finding) int64 { return f.PID }, func(f *Finding) string { return f.Process }),
		table.Text("text", func(f *Finding) string { return f.Text }))
}
