package parquet

// How much of the rows of a file is held, and how many are a group of it, where nobody says.
const (
	defaultMemory   = 48 << 20
	defaultRowGroup = 1 << 18
)
