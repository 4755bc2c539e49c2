package main

import (
	"fmt"
	"strings"
)

// types are the types of the tables as manifests have them: inType and outType.
var types = map[string][2]string{
	"u8": {"win:UInt8"}, "i8": {"win:Int8"}, "u16": {"win:UInt16"}, "i16": {"win:Int16"}, "u32": {"win:UInt32"},
	"i32": {"win:Int32"}, "u64": {"win:UInt64"}, "i64": {"win:Int64"},
	"ptr": {"win:Pointer"}, "size": {"win:Pointer", "xs:unsignedLong"},
	"wstr": {"win:UnicodeString"}, "astr": {"win:AnsiString", "win:Utf8"}, "wchar": {"win:UnicodeString"},
	"guid": {"win:GUID"}, "filetime": {"win:FILETIME"}, "systemtime": {"win:SYSTEMTIME"}, "qpc": {"win:UInt64", "win:ETWTIME"},
	"port": {"win:UInt16", "win:Port"}, "ipv4": {"win:UInt32", "win:IPv4"}, "ipv6": {"win:Binary", "win:IPv6"},
	"bin": {"win:Binary"}, "sid": {"win:SID"},
}

// attributes returns the attributes of a field.
func (k *kernel) attributes(l *layout, in string, c *column) string {
	t := types[c.typ]
	inType, outType, count, length, more := t[0], t[1], "", "", ""
	switch {
	case c.typ == "wchar", c.typ == "bin" && c.count != "rest":
		length = c.count
	case c.typ == "ipv6":
		length = "16"
	case c.typ == "bin":
		more = ` etwgen:length="*"` // there is such a field even if nothing is left
	case c.typ == "sid":
		more = ` etwgen:inType="wbemsid"`
	case c.count == "rest":
		more = ` etwgen:count="*"`
	default:
		count = c.count
	}
	if c.typ != "bin" || c.count != "rest" {
		more += attribute("etwgen:when", c.condition)
	}
	inType, outType = rendering(c, inType, outType)
	mapName := c.mapName
	if mapName == "NTSTATUS" || c.typ == "u64" {
		mapName = ""
	} else if mapName != "" && c.typ == "i8" {
		inType = "win:UInt8"
	}
	doc := k.docs.of(l.name+"."+in+c.name, l.task+"."+in+c.name, "*."+in+c.name)
	return attribute("name", c.name) + attribute("inType", inType) + attribute("outType", outType) + attribute("map", mapName) +
		attribute("count", count) + attribute("length", length) + more + attribute("etwgen:doc", doc)
}

// rendering returns the types of a field with the form for people that its name and note
// imply.
func rendering(c *column, inType, outType string) (string, string) {
	id := strings.TrimPrefix(strings.TrimPrefix(c.name, "Creating"), "Target")
	switch {
	case c.mapName == "NTSTATUS":
		return inType, "win:NTSTATUS"
	case c.typ == "i32" && c.name == "ExitStatus":
		return inType, "win:HResult"
	case c.typ == "u32" && (strings.HasSuffix(id, "ProcessId") || c.name == "PID" || c.name == "ParentId" || c.name == "StackProcess"):
		return inType, "win:PID"
	case c.typ == "u32" && (strings.HasSuffix(id, "ThreadId") || c.name == "TTID" || c.name == "StackThread"):
		return inType, "win:TID"
	case c.mapName == "" && (c.note == "hex" || strings.HasPrefix(c.note, "hex,")):
		switch c.typ {
		case "u8":
			return inType, "win:HexInt8"
		case "u16":
			return inType, "win:HexInt16"
		case "u32":
			return inType, "win:HexInt32"
		case "u64":
			return inType, "win:HexInt64"
		}
	}
	return inType, outType
}

// attribute returns an attribute with a space in front, or nothing if it is
// empty.
func attribute(name, value string) string {
	if value == "" {
		return ""
	}
	return fmt.Sprintf(` %s="%s"`, name, escape.Replace(value))
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;")
