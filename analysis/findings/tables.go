package findings

import "github.com/etwgen/etwgen/analysis/table"

// owner returns the process of a finding, -1 of one of the whole trace.
func owner(f *Finding) int64 {
	if f.PID == 0 {
		return -1
	}
	return f.PID
}

// Table returns findings as a table.
func Table(list []Finding) table.View {
	return table.Of("finding", "Findings", table.Refs(list),
		table.Text("severity", func(f *Finding) string { return string(f.Severity) }),
		table.Text("id", func(f *Finding) string { return f.ID }),
		table.Text("part", func(f *Finding) string { return f.Part }),
		table.ID("pid", func(f *Finding) int64 { return f.PID }),
		table.NameOf("process", table.Process, owner, func(f *Finding) string { return f.Process }),
		table.Text("text", func(f *Finding) string { return f.Text }))
}
