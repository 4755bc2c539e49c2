// Package httpsys has the events of Microsoft-Windows-HttpService that are asked for most: requests that http.sys serves.
// Package windows says when to use it.
package httpsys

//go:generate go tool etwgen gen --tests --files one -o . httpsys.man
