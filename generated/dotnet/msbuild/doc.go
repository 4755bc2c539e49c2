// Package msbuild has the events of Microsoft-Build as Go types. What MSBuild spends
// its time on: evaluation, targets, tasks, references.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package msbuild

//go:generate go tool etwgen gen --files one -o . msbuild.man
