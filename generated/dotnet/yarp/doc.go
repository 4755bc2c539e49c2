// Package yarp has the events of Yarp.ReverseProxy as Go types. Requests that YARP
// forwards.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package yarp

//go:generate go tool etwgen gen --files one -o . yarp.man
