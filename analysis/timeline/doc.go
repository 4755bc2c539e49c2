// Package timeline answers what happened when: it parts the time of a trace into equal
// buckets, and says for each of them what the other analyses found in it. Use it to see
// what happened at the same time, and when to look closer.
//
// A lane is one thing over time, such as the pauses of a process for collections. Lanes
// are of three kinds (see [How]): sums, whose buckets add up to the sum that the analysis
// itself tells, wherever the buckets lie; levels, such as the size of a heap, which hold
// until they change; and means of what was measured now and then.
//
// What lasts, such as a pause, is parted among the buckets that it lasts in. What is
// outside of the time that is shown counts in the first or the last bucket, so that no
// sum loses any of it.
package timeline
