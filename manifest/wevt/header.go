package wevt

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Header returns a header for C and C++: what the manifest defines, as constants,
// and for each event a function that writes it. Programs include it in place of
// that of mc.exe, and link the resource. Symbols that C cannot have, or that are taken,
// become others.
func Header(name string, m *manifest.Manifest) []byte {
	w := &headerWriter{taken: make(map[string]bool), asked: make(map[string]int), constant: make(map[string]string)}
	w.line("/* Made by etwgen from %s. Do not edit. */", commentText(name))
	w.line("#pragma once\n")
	w.line("#include <windows.h>\n#include <evntprov.h>\n#include <string.h>\n#include <wchar.h>\n")
	w.line("%s", sharedMacro)
	for _, p := range m.Providers {
		w.provider(p)
	}
	return w.b.Bytes()
}

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

// provider writes what a provider defines.
func (w *headerWriter) provider(p *manifest.Provider) {
	wanted := symbolOr(p.Symbol, p.Name)
	symbol := w.unique(ofProvider, wanted, wanted)
	w.line("/* Provider %s */", commentText(p.Name))
	w.line("ETWGEN_SHARED const GUID %s = %s;", symbol, guidText(p.GUID))
	w.line("__declspec(selectany) REGHANDLE %s_Handle = 0;\n", symbol) // a variable has one name in C and C++
	w.line("static __inline ULONG EventRegister_%s(void) { return EventRegister(&%[1]s, NULL, NULL, &%[1]s_Handle); }", symbol)
	w.line("static __inline ULONG EventUnregister_%s(void) { REGHANDLE h = %[1]s_Handle; %[1]s_Handle = 0; return EventUnregister(h); }\n", symbol)
	w.constants(p, symbol)
	for _, ev := range p.Events {
		w.event(p, symbol, ev)
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
func (w *headerWriter) event(p *manifest.Provider, provider string, ev *manifest.Event) {
	wanted := symbolOr(ev.Symbol, eventName(ev), fmt.Sprintf("V%d", ev.Version))
	symbol := w.unique(ofEvent, wanted, fmt.Sprintf("%s_%d_%d", wanted, ev.ID, ev.Version))
	d := descriptor(p, ev)
	w.line("ETWGEN_SHARED const EVENT_DESCRIPTOR %s = {0x%x, 0x%x, 0x%x, 0x%x, 0x%x, 0x%x, 0x%xULL};",
		symbol, d.ID, d.Version, d.Channel, d.Level, d.Opcode, d.Task, d.Keywords)
	w.line("#define %s_value 0x%x", symbol, d.ID)
	w.line("static __inline BOOLEAN EventEnabled_%s(void) { return %s_Handle && EventEnabled(%[2]s_Handle, &%[1]s); }", symbol, provider)
	var a arguments
	if ev.Template != nil {
		a.fields(ev.Template.Fields)
	}
	params := strings.Join(a.params, ", ")
	if params == "" {
		params = "void"
	}
	w.line("static __inline ULONG EventWrite_%s(%s) {", symbol, params)
	if len(a.data) == 0 {
		w.line("\treturn EventEnabled_%s() ? EventWrite(%s_Handle, &%[1]s, 0, NULL) : ERROR_SUCCESS;\n}\n", symbol, provider)
		return
	}
	w.line("\tEVENT_DATA_DESCRIPTOR data[%d];", len(a.data))
	w.line("\tif (!EventEnabled_%s()) return ERROR_SUCCESS;", symbol)
	for i, d := range a.data {
		w.line("\tEventDataDescCreate(&data[%d], %s);", i, d)
	}
	w.line("\treturn EventWrite(%s_Handle, &%s, %d, data);\n}\n", provider, symbol, len(a.data))
}
