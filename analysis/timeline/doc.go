// Package timeline shows the course of events over time: it parts the time of a trace into
// equal buckets, and says for each of them the findings of the other analyses in it. Use it
// to see events of the same time, and when to look closer.
//
// A lane is one thing over time, such as the pauses of a process for collections. Lanes are
// of three kinds (see [How]): sums, whose buckets add up to the sum that the analysis itself
// tells, wherever the buckets lie; levels, such as the size of a heap, which hold until they
// change; and means of occasional measures.
//
// An interval, such as a pause, is parted among the buckets that it lasts in. Events outside
// of the time shown count in the first or the last bucket, so that no sum loses any of it.
package timeline
