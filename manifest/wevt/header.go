package wevt

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// HeaderOptions say which header [Header] makes. The zero value is that of mc.exe.
type HeaderOptions struct {
	// Kernel is for drivers, as mc's -km: the functions call EtwRegister and EtwWrite, and
	// those that write take an activity, or NULL, as their first argument.
	Kernel bool
	// Prefix is the begin of the names of functions that write, as mc's -p: EventWrite if it
	// is empty.
	Prefix string
	// Strip is the prefix that symbols of events lose, in any case, in names of functions,
	// as mc's -P.
	Strip string
}

// Header returns a header for C and C++: the definitions of the manifest, as constants, and
// for each event a function that writes it, called as mc.exe calls its macros. Programs
// include it in place of that of mc.exe, and link the resource. Symbols that C cannot have,
// or that are taken, become others.
func Header(name string, m *manifest.Manifest, opts HeaderOptions) []byte {
	opts.Prefix = cmp.Or(opts.Prefix, "EventWrite")
	w := &headerWriter{opts: opts, taken: make(map[string]bool), asked: make(map[string]int), constant: make(map[string]string)}
	w.mode = userMode
	if opts.Kernel {
		w.mode = kernelMode
	}
	w.line("/* Made by etwgen from %s. Do not edit. */", commentText(name))
	w.line("#pragma once\n")
	w.line("#include <%s>\n#include <evntprov.h>\n#include <string.h>\n#include <wchar.h>\n", w.mode.include)
	w.line("%s", sharedMacro)
	for _, p := range m.Providers {
		w.provider(p)
	}
	return w.b.Bytes()
}

// A mode is the difference between the header of a program and that of a driver.
type mode struct {
	include, result, success string
	// The functions that it calls.
	register, unregister, enabled, write string
	activity                             bool // write takes one
}

var (
	userMode = mode{include: "windows.h", result: "ULONG", success: "ERROR_SUCCESS",
		register: "EventRegister", unregister: "EventUnregister", enabled: "EventEnabled", write: "EventWrite"}
	kernelMode = mode{include: "wdm.h", result: "NTSTATUS", success: "STATUS_SUCCESS",
		register: "EtwRegister", unregister: "EtwUnregister", enabled: "EtwEventEnabled", write: "EtwWrite", activity: true}
)

// sharedMacro is for definitions that several files of a program may include.
const sharedMacro = `#ifndef ETWGEN_SHARED
#ifdef __cplusplus
#define ETWGEN_SHARED extern "C" __declspec(selectany)
#else
#define ETWGEN_SHARED __declspec(selectany)
#endif
#endif
`

// A headerWriter writes a header.
type headerWriter struct {
	b        bytes.Buffer
	opts     HeaderOptions
	mode     mode
	taken    map[string]bool
	asked    map[string]int    // how often a name was not free
	constant map[string]string // by what the manifest calls it
}

func (w *headerWriter) line(format string, args ...any) {
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

// commentText returns text that does not end a comment.
func commentText(s string) string { return strings.ReplaceAll(s, "*/", "* /") }

// define writes a constant, unless there is one of its name and value.
func (w *headerWriter) define(symbol, format string, args ...any) {
	value := fmt.Sprintf(format, args...)
	if old, ok := w.constant[symbol]; ok && old == value {
		return
	}
	w.constant[symbol] = value
	w.line("#define %s %s", w.unique(ofConstant, symbol, symbol), value)
}

// symbolOr returns a symbol, or one that is made of other names.
func symbolOr(symbol string, names ...string) string {
	if symbol != "" {
		return symbol
	}
	return strings.ToUpper(manifest.Symbol(strings.Join(names, "_")))
}

func guidText(g etw.GUID) string {
	d := func(i int) uint32 {
		return uint32(g[i]) | uint32(g[i+1])<<8
	}
	var tail []string
	for _, b := range g[8:] {
		tail = append(tail, fmt.Sprintf("0x%02x", b))
	}
	return fmt.Sprintf("{0x%08x, 0x%04x, 0x%04x, {%s}}", d(0)|d(2)<<16, d(4), d(6), strings.Join(tail, ", "))
}

// provider writes the definitions of a provider.
func (w *headerWriter) provider(p *manifest.Provider) {
	wanted := symbolOr(p.Symbol, p.Name)
	symbol := w.unique(ofConstant, wanted, wanted)
	name := w.unique(ofProvider, p.Name, symbol)
	handle := name + "Handle"
	w.line("/* Provider %s */", commentText(p.Name))
	w.line("ETWGEN_SHARED const GUID %s = %s;", symbol, guidText(p.GUID))
	w.line("__declspec(selectany) REGHANDLE %s = 0;\n", handle) // a variable has one name in C and C++
	w.line("static __inline %s EventRegister%s(void) { return %s ? %s : %s(&%s, NULL, NULL, &%s); }",
		w.mode.result, name, handle, w.mode.success, w.mode.register, symbol, handle)
	w.line("static __inline %s EventUnregister%s(void) { REGHANDLE h = %s; %s = 0; return h ? %s(h) : %s; }\n",
		w.mode.result, name, handle, handle, w.mode.unregister, w.mode.success)
	w.constants(p, symbol)
	for _, ev := range p.Events {
		w.event(p, handle, ev)
	}
}

// constants writes the values that programs name.
func (w *headerWriter) constants(p *manifest.Provider, symbol string) {
	for _, c := range p.Channels {
		w.define(symbolOr(c.Symbol, symbol, "CHANNEL", c.Name), "0x%x", c.Value)
	}
	for _, l := range p.Levels {
		w.define(symbolOr(l.Symbol, symbol, "LEVEL", l.Name), "0x%x", uint8(l.Value))
	}
	for _, t := range p.Tasks {
		task := symbolOr(t.Symbol, symbol, "TASK", t.Name)
		w.define(task, "0x%x", t.Value)
		if id := guidText(t.EventGUID); !t.EventGUID.IsZero() && w.constant[task+"_Id"] != id {
			w.constant[task+"_Id"] = id
			w.line("ETWGEN_SHARED const GUID %s = %s;", w.unique(ofConstant, task+"_Id", task+"_Id"), id)
		}
		for _, o := range t.Opcodes {
			w.define(symbolOr(o.Symbol, symbol, "OPCODE", t.Name, o.Name), "0x%x", uint8(o.Value))
		}
	}
	for _, o := range p.Opcodes {
		w.define(symbolOr(o.Symbol, symbol, "OPCODE", o.Name), "0x%x", uint8(o.Value))
	}
	for _, k := range p.Keywords {
		w.define(symbolOr(k.Symbol, symbol, "KEYWORD", k.Name), "0x%xULL", k.Mask)
	}
	for _, m := range p.Maps {
		for _, e := range m.Entries {
			if e.Symbol != "" {
				w.define(e.Symbol, "0x%x", e.Value)
			}
		}
	}
	w.line("")
}

// event writes the descriptor of an event and the functions that test and write it.
func (w *headerWriter) event(p *manifest.Provider, handle string, ev *manifest.Event) {
	wanted := symbolOr(ev.Symbol, eventName(ev), fmt.Sprintf("V%d", ev.Version))
	symbol := w.unique(w.ofEvent, wanted, fmt.Sprintf("%s_%d_%d", wanted, ev.ID, ev.Version))
	call := w.call(symbol)
	d := descriptor(p, ev)
	w.line("ETWGEN_SHARED const EVENT_DESCRIPTOR %s = {0x%x, 0x%x, 0x%x, 0x%x, 0x%x, 0x%x, 0x%xULL};",
		symbol, d.ID, d.Version, d.Channel, d.Level, d.Opcode, d.Task, d.Keywords)
	w.line("#define %s_value 0x%x", symbol, d.ID)
	w.line("static __inline BOOLEAN EventEnabled%s(void) { return %s && %s(%s, &%s); }", call, handle, w.mode.enabled, handle, symbol)
	a := arguments{kernel: w.opts.Kernel}
	if ev.Template != nil {
		a.fields(ev.Template.Fields)
	}
	activity := ""
	if w.mode.activity {
		a.params = append([]string{"const GUID *activity"}, a.params...)
		activity = "activity, "
	}
	w.line("static __inline %s %s%s(%s) {", w.mode.result, w.opts.Prefix, call, cmp.Or(strings.Join(a.params, ", "), "void"))
	data := "NULL"
	if len(a.data) > 0 {
		data = "data"
		w.line("\tEVENT_DATA_DESCRIPTOR data[%d];", len(a.data))
	}
	w.line("\tif (!EventEnabled%s()) return %s;", call, w.mode.success)
	for i, d := range a.data {
		w.line("\tEventDataDescCreate(&data[%d], %s);", i, d)
	}
	w.line("\treturn %s(%s, &%s, %s%d, %s);\n}\n", w.mode.write, handle, symbol, activity, len(a.data), data)
}
