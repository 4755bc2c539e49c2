package provider

import "unsafe"

// handleOf returns where ETW is to put the handle of p, which writers read at any time.
func handleOf(p *Provider) *uint64 { return (*uint64)(unsafe.Pointer(&p.handle)) }
