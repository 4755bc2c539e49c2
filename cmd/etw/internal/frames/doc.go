// Package frames names the frames of call stacks, and binds stacks that are events of
// their own to the events they are of.
package frames
