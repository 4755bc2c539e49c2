// Package trace opens traces of any format that the module reads: .etl, .nettrace
// and .netperf files, and zip archives and gzip files of them. What a file is, its
// first bytes say; its name is of no account.
package trace
