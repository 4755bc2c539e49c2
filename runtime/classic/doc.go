// Package classic knows the classic events of Windows, above all those of the kernel: their
// names, and the threads they are about. Use it beside a live source of your own: readers of
// files attribute events themselves.
//
// A classic event has the Kind [etw.KindClassic] and is identified by a class, in
// the place of a provider, and an opcode. [Names] returns the names of both.
//
// Many kernel events do not say in their headers which process and thread they are about, or
// say who logged them. [Owners] finds out: it learns from some events facts by which others
// are attributed. A reader of files learns from all before it attributes any, as package etl
// does; a live session learns as events come.
package classic
