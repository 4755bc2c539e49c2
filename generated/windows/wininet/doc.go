// Package wininet has the events of Microsoft-Windows-WinINet that are asked for most: requests of programs that use WinINet.
// Package windows says when to use it.
package wininet

//go:generate go tool etwgen gen --tests --files one -o . wininet.man
