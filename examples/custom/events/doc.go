// Package events holds the events of the provider Example-Shop. Its types are
// generated from shop.man.
package events

//go:generate go tool etwgen gen shop.man
