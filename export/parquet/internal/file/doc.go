// Package file writes files of the Parquet format: columns in row groups, each
// encoded as suits its values and compressed by zstd.
//
// It is by hand because of its demands: a schema that is known only while the program runs,
// no allocation for a row, memory that its user bounds, and a small binary. A [Writer] keeps
// the rows of one row group as values, and decides on encodings when the group is written: a
// dictionary where values repeat, differences where numbers lie close together, plain values
// otherwise.
package file
