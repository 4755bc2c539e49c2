// Package msbuild has the events of Microsoft-Build as Go types. They tell where the time of
// MSBuild goes: evaluation, targets, tasks, references.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package msbuild

//go:generate go tool etwgen gen --files one -o . msbuild.man
