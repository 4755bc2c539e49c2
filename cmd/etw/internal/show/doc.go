// Package show prints results: tables, text, CSV, Markdown and JSON, with the pager, the
// progress and the numbers in words. It knows no analysis.
package show
