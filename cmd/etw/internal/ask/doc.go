// Package ask has the commands that an analysis answers, such as etw gc.
package ask
