package main

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/command"
	"github.com/etwgen/etwgen/manifest"
)

// The form in which code hosts and editors take findings: SARIF 2.1.0, as much of it as
// they show.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifTool `json:"driver"`
		} `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID   string    `json:"id"`
		Text sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region sarifRegion `json:"region"`
		} `json:"physicalLocation"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn"`
	}
)

// A finding is about a place in a file.
type finding struct {
	rule, level, text string
	path              string
	line, col         int
}

// faultsOf returns the faults of a manifest in the order in which they stand.
func faultsOf(r *reading) []finding {
	warns := make(map[*manifest.Error]bool, len(r.warnings))
	for _, w := range r.warnings {
		warns[w] = true
	}
	all := slices.Concat(r.errors, r.warnings)
	all.Sort()
	list := make([]finding, len(all))
	for i, e := range all {
		level := "error"
		if warns[e] {
			level = "warning"
		}
		list[i] = finding{level, level, e.Msg, r.path, e.Pos.Line, e.Pos.Col}
	}
	return list
}

// sarifOf returns the findings of a command as the log of its run.
func sarifOf(verb string, list []finding) *sarifLog {
	run := sarifRun{Results: []sarifResult{}}
	run.Tool.Driver = sarifTool{Name: "etwgen", Version: command.Version(), Rules: []sarifRule{}}
	rules := make(map[string]bool)
	for _, f := range list {
		if !rules[f.rule] {
			rules[f.rule] = true
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{f.rule, sarifText{"etwgen " + verb + ": " + f.rule}})
		}
		result := sarifResult{RuleID: f.rule, Level: f.level, Message: sarifText{f.text}, Locations: make([]sarifLocation, 1)}
		at := &result.Locations[0].Physical
		at.Artifact.URI = filepath.ToSlash(f.path)
		at.Region = sarifRegion{max(f.line, 1), max(f.col, 1)}
		run.Results = append(run.Results, result)
	}
	return &sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}

// writeSARIF writes the findings of a command as the log of its run.
func writeSARIF(cmd *cobra.Command, list []finding) error {
	enc := json.NewEncoder(cmd.OutOrStdout())
	enc.SetIndent("", "  ")
	return enc.Encode(sarifOf(cmd.Name(), list))
}

// addFormat adds the flag that chooses between text and SARIF.
func addFormat(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVar(format, "format", "text", "the `form`: text or sarif")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if *format != "text" && *format != "sarif" {
			return usagef("--format %s: choose text or sarif", *format)
		}
		return nil
	}
}
