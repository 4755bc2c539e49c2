// Kernelman makes the manifest of the kernel's classic events, kernel.man, and
// system.go beside it, from tables of facts about them:
//
//	go run ./internal/kernelman -facts DIR -o generated/kernel
//
// The tables are no part of the project, and the manifest is committed, so that only those
// who change the tables need this program. The tables list the events and fields: classes,
// opcodes, versions, layouts, names of values. Meanings are in docs.txt, in our own words.
package main
