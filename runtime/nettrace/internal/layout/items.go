package layout

// The flags of a sequence point of version 6.
const (
	ForgetThreads  = 1
	ForgetMetadata = 2
)

// The kinds of labels. The last label of a list has LabelLast set.
const (
	LabelActivity  = 1
	LabelRelated   = 2
	LabelTraceID   = 3
	LabelSpanID    = 4
	LabelText      = 5
	LabelInt       = 6
	LabelOpcode    = 7
	LabelKeywords  = 8
	LabelLevel     = 9
	LabelVersion   = 10
	LabelLast      = 0x80
	LabelOverrides = 1<<LabelOpcode | 1<<LabelKeywords | 1<<LabelLevel | 1<<LabelVersion
)

// The items of a thread row.
const (
	ThreadName     = 1
	ThreadProcess  = 2
	ThreadID       = 3
	ThreadKeyValue = 4
)
