package main

import (
	"cmp"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"

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

// found is the findings in a manifest.
type found struct {
	path             string
	errors, warnings manifest.ErrorList
}

// sarifOf returns the findings in manifests.
func sarifOf(list []found) *sarifLog {
	run := sarifRun{Results: []sarifResult{}}
	run.Tool.Driver = sarifTool{Name: "etwgen", Version: command.Version(), Rules: []sarifRule{
		{"error", sarifText{"The manifest is refused."}},
		{"warning", sarifText{"The manifest is doubtful."}},
	}}
	for _, r := range list {
		levels := make(map[*manifest.Error]string, len(r.warnings))
		for _, w := range r.warnings {
			levels[w] = "warning"
		}
		all := slices.Concat(r.errors, r.warnings)
		all.Sort()
		for _, e := range all {
			level := cmp.Or(levels[e], "error")
			result := sarifResult{RuleID: level, Level: level, Message: sarifText{e.Msg}, Locations: make([]sarifLocation, 1)}
			at := &result.Locations[0].Physical
			at.Artifact.URI = filepath.ToSlash(r.path)
			at.Region = sarifRegion{max(e.Pos.Line, 1), max(e.Pos.Col, 1)}
			run.Results = append(run.Results, result)
		}
	}
	return &sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}

// writeSARIF writes the findings in manifests.
func writeSARIF(w io.Writer, list []found) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifOf(list))
}
