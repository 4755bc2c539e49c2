package manifest

import (
	"strings"
	"testing"
)

// TestModes has a case for each construct that the two modes treat differently,
// and for each that is doubtful. Marks in the manifests are the places that the
// diagnostics must have.
func TestModes(t *testing.T) {
	type want struct{ errors, warnings []string }
	none := want{}
	same := func(errors ...string) want { return want{errors: errors} }
	warns := func(warnings ...string) want { return want{warnings: warnings} }

	tests := []struct {
		name            string
		src             string
		strict, lenient want
	}{
		{
			"not well-formed: a quote in a value",
			inProvider(`<maps><valueMap name="M"><map value="1" message="$(string.m_"§1Some mode")"/></valueMap></maps>`),
			same(`1: not well-formed XML at "Some mode\")\"/></valueMap></maps>": unescaped text directly after the value of "message"; inside a value write &quot; for ", and put a space between attributes`),
			same(`1: not well-formed XML at "Some mode\")\"/></valueMap></maps>": unescaped text directly after the value of "message"; inside a value write &quot; for ", and put a space between attributes`),
		},
		{
			"not well-formed: a tag in a value",
			inProvider(`<maps><valueMap name="M"><map value="1" message="$(string.m_§1<Property>)"/></valueMap></maps>`),
			same(`1: not well-formed XML at "<Property>)\"/></valueMap></maps>": unescaped < inside the value of "message"; write &lt;, or close the quote`),
			same(`1: not well-formed XML at "<Property>)\"/></valueMap></maps>": unescaped < inside the value of "message"; write &lt;, or close the quote`),
		},
		{
			"another document",
			"<!-- documentation -->\n§1<doc><assembly/></doc>",
			same(`1: no ETW provider: the document is <doc>, not <instrumentationManifest> of namespace http://schemas.microsoft.com/win/2004/08/events`),
			same(`1: no ETW provider: the document is <doc>, not <instrumentationManifest> of namespace http://schemas.microsoft.com/win/2004/08/events`),
		},
		{
			"the name in another case",
			"§1<InstrumentationManifest><Instrumentation/></InstrumentationManifest>",
			same(`1: no ETW provider: the document is <InstrumentationManifest>, not <instrumentationManifest> of namespace http://schemas.microsoft.com/win/2004/08/events`),
			same(`1: no ETW provider: the document is <InstrumentationManifest>, not <instrumentationManifest> of namespace http://schemas.microsoft.com/win/2004/08/events`),
		},
		{
			"no provider",
			`§1<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events/></instrumentation></instrumentationManifest>`,
			same(`1: no ETW provider: the manifest declares none within <instrumentation><events>`),
			same(`1: no ETW provider: the manifest declares none within <instrumentation><events>`),
		},
		{
			"counters only",
			`§1<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><counters xmlns="http://schemas.microsoft.com/win/2005/12/counters"><provider providerName="P"/></counters></instrumentation></instrumentationManifest>`,
			same(`1: no ETW provider: the manifest declares none within <instrumentation><events>`),
			same(`1: no ETW provider: the manifest declares none within <instrumentation><events>`),
		},
		{
			"byte order mark, CRLF and single quotes",
			"\ufeff<?xml version='1.0' encoding='utf-8' standalone='yes'?>\r\n" + strings.ReplaceAll(strings.ReplaceAll(inTemplate(`<data name="A" inType="win:UInt8"/>`), `"`, `'`), "\n", "\r\n"),
			none, none,
		},
		{
			"https namespace of types",
			`§1<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events" xmlns:win="https://manifests.microsoft.com/win/2004/08/windows/events"><instrumentation><events><provider name="P" symbol="P" guid="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f}"><templates><template tid="T"><data name="A" inType="win:UInt8"/></template></templates></provider></events></instrumentation></instrumentationManifest>`,
			same(`1: namespace "https://manifests.microsoft.com/win/2004/08/windows/events" begins with https, which makes it a different one to Windows; write "http://manifests.microsoft.com/win/2004/08/windows/events"`),
			warns(`1: namespace "https://manifests.microsoft.com/win/2004/08/windows/events" begins with https, which makes it a different one to Windows; write "http://manifests.microsoft.com/win/2004/08/windows/events"`),
		},
		{
			"https namespace of events",
			`§1<instrumentationManifest xmlns="https://schemas.microsoft.com/win/2004/08/events"><instrumentation><events><provider name="P" symbol="P" guid="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f}"/></events></instrumentation></instrumentationManifest>`,
			same(`1: namespace "https://schemas.microsoft.com/win/2004/08/events" begins with https, which makes it a different one to Windows; write "http://schemas.microsoft.com/win/2004/08/events"`),
			warns(`1: namespace "https://schemas.microsoft.com/win/2004/08/events" begins with https, which makes it a different one to Windows; write "http://schemas.microsoft.com/win/2004/08/events"`),
		},
		{
			"unknown prefix in names",
			inProvider(`<keywords><keyword name="K" mask="0x1"/>
§1<keyword name="ut:Send" mask="0x2"/></keywords>
<events><event value="1" symbol="E" keywords="ut:Send K"/></events>`),
			warns(`1: prefix "ut" is not declared, so names like "ut:Send" are taken as plain text; declare it with xmlns:ut`),
			none,
		},
		{
			"undefined template",
			inProvider(`<events>
	§1<event value="1" symbol="E" template="Nowhere"/></events>`),
			same(`1: event 1 has template "Nowhere", which is not declared; declare it in <templates>`),
			same(`1: event 1 has template "Nowhere", which is not declared; declare it in <templates>`),
		},
		{
			"undefined keyword",
			inProvider(`<events>§1<event value="1" symbol="E" keywords="K1 K2"/></events>`),
			same(`1: event 1 has keyword "K1", which is not declared; declare it in <keywords>`, `1: event 1 has keyword "K2", which is not declared; declare it in <keywords>`),
			same(`1: event 1 has keyword "K1", which is not declared; declare it in <keywords>`, `1: event 1 has keyword "K2", which is not declared; declare it in <keywords>`),
		},
		{
			"undefined task",
			inProvider(`<events>§1<event value="1" symbol="E" task="task_0"/></events>`),
			same(`1: event 1 has task "task_0", which is not declared; declare it in <tasks>`),
			warns(`1: event 1 has task "task_0", which is not declared: its value is taken to be 0`),
		},
		{
			"undefined opcode",
			inProvider(`<events>§1<event value="1" symbol="E" opcode="Begin"/></events>`),
			same(`1: event 1 has opcode "Begin", which is not declared; declare it in <opcodes>`),
			warns(`1: event 1 has opcode "Begin", which is not declared: its value is taken to be 0`),
		},
		{
			"numeric opcode",
			inProvider(`<events>§1<event value="1" symbol="E" opcode="17"/></events>`),
			same(`1: event 1 has opcode "17", which is not declared; declare it in <opcodes>`),
			warns(`1: event 1 has opcode "17", which is taken as a number`),
		},
		{
			"standard opcode with a suffix",
			inProvider(`<events>§1<event value="1" symbol="E" opcode="win:Start_8_1"/></events>`),
			same(`1: event 1 has opcode "win:Start_8_1", which is not declared; did you mean win:Start?`),
			warns(`1: event 1 has opcode "win:Start_8_1", which is taken as win:Start`),
		},
		{
			"opcode of another task",
			inProvider(`<tasks><task name="A" value="1"><opcodes><opcode name="Go" value="12"/></opcodes></task><task name="B" value="2"/></tasks>
<events>§1<event value="1" symbol="E" task="B" opcode="Go"/></events>`),
			same(`1: event 1 has opcode "Go", which belongs to task "A"; name that task, or declare the opcode in the task of the event`),
			warns(`1: event 1 has opcode "Go", which belongs to task "A": its value is taken from there`),
		},
		{
			"level win:Always",
			inProvider(`<events>§1<event value="1" symbol="E" level="win:Always"/></events>`),
			same(`1: event 1 has level "win:Always"; write win:LogAlways`),
			none,
		},
		{
			"duplicate event with one template",
			inProvider(`<templates><template tid="T"><data name="A" inType="win:UInt8"/></template></templates>
<events><event value="7" version="2" symbol="E" template="T"/>
  §1<event value="7" version="2" symbol="F" template="T"/></events>`),
			same(`1: event 7 version 2 is already declared at t.man:3:9; change the value or version of one`),
			warns(`1: event 7 version 2 is already declared at t.man:3:9: nothing is dispatched to this one`),
		},
		{
			"duplicate event with another template",
			inProvider(`<templates><template tid="T"><data name="A" inType="win:UInt8"/></template></templates>
<events><event value="7" symbol="E" template="T"/>
§1<event value="7" version="0" symbol="F"/></events>`),
			same(`1: event 7 version 0 is already declared at t.man:3:9; change the value or version of one`),
			warns(`1: event 7 version 0 is already declared at t.man:3:9 with another template: this one is dispatched only by its opcode`),
		},
		{
			"event id of more than 16 bits",
			inProvider(`<events>§1<event value="65536" symbol="E"/></events>`),
			same(`1: event 65536 has an id above 65535, which does not fit in the header of an event; use a lower one`),
			warns(`1: event 65536 has an id above 65535, which does not fit in the header of an event: nothing is dispatched to it`),
		},
		{
			"numbers that do not fit",
			inProvider(`<tasks>§1<task name="T" value="65536"/></tasks><opcodes>§2<opcode name="O" value="256"/></opcodes>
<maps><valueMap name="M">§3<map value="0x100000000" symbol="X"/></valueMap></maps>
<events>§4<event value="1" version="256" symbol="E"/>§5<event value="4294967296" symbol="F"/></events>`),
			same(`1: value "65536" of task "T" is not a number from 0 to 65535`,
				`2: value "256" of opcode "O" is not a number from 0 to 255`,
				`3: value "0x100000000" of an entry of map "M" is not a number from 0 to 4294967295`,
				`4: version "256" of event 1 is not a number from 0 to 255`,
				`5: value "4294967296" of event is not a number from 0 to 4294967295`),
			same(`1: value "65536" of task "T" is not a number from 0 to 65535`,
				`2: value "256" of opcode "O" is not a number from 0 to 255`,
				`3: value "0x100000000" of an entry of map "M" is not a number from 0 to 4294967295`,
				`4: version "256" of event 1 is not a number from 0 to 255`,
				`5: value "4294967296" of event is not a number from 0 to 4294967295`),
		},
		{
			"tasks outside their documented range",
			inProvider(`<tasks><task name="T" value="0"/><task name="U" value="240"/></tasks>`),
			none, none,
		},
		{
			"opcodes that Windows has for itself",
			inProvider(`<opcodes>§1<opcode name="O" value="5"/>§2<opcode name="P" value="240"/>§3<opcode name="Q" value="255"/></opcodes>`),
			warns(`1: value 5 of opcode "O" is reserved for win:Extension; use one from 10 to 239`,
				`2: value 240 of opcode "P" is reserved for win:Receive; use one from 10 to 239`,
				`3: value 255 of opcode "Q" is reserved; use one from 10 to 239`),
			none,
		},
		{
			"duplicate names",
			inProvider(`<keywords><keyword name="K" mask="0x1"/>§1<keyword name="K" mask="0x2"/></keywords>
<tasks><task name="T" value="1"/>§2<task name="T" value="2"/></tasks>
<maps><valueMap name="M"><map value="1" symbol="A"/></valueMap>§3<bitMap name="M"><map value="1" symbol="A"/></bitMap></maps>
<templates><template tid="L"/>§4<template tid="L"/></templates>`),
			same(`1: keyword "K" is already declared at t.man:2:11; rename one of them`,
				`2: task "T" is already declared at t.man:3:8; rename one of them`,
				`3: map "M" is already declared at t.man:4:7; rename one of them`,
				`4: template "L" is already declared at t.man:5:12; rename one of them`),
			same(`1: keyword "K" is already declared at t.man:2:11; rename one of them`,
				`2: task "T" is already declared at t.man:3:8; rename one of them`,
				`3: map "M" is already declared at t.man:4:7; rename one of them`,
				`4: template "L" is already declared at t.man:5:12; rename one of them`),
		},
		{
			"one opcode name in several tasks, local before global",
			inProvider(`<opcodes><opcode name="Go" value="20"/></opcodes>
<tasks><task name="A" value="1"><opcodes><opcode name="Go" value="12"/></opcodes></task>
<task name="B" value="2"><opcodes><opcode name="Go" value="13"/></opcodes></task><task name="C" value="3"/></tasks>
<events><event value="1" symbol="E1" task="A" opcode="Go"/><event value="2" symbol="E2" task="B" opcode="Go"/><event value="3" symbol="E3" task="C" opcode="Go"/></events>`),
			none, none,
		},
		{
			"unknown inType",
			inTemplate("<data name=\"A\" inType=\"win:UInt8\"/>\n§1<data name=\"B\" inType=\"win:28\" count=\"A\"/>\n<data name=\"C\" inType=\"win:UInt8\"/>"),
			same(`1: unknown inType "win:28" of field "B"; use one that Windows defines, such as win:UInt32`),
			warns(`1: unknown inType "win:28" of field "B": the rest of the payload is opaque`),
		},
		{
			"inType of a struct",
			inTemplate(`§1<data name="B" inType="win:Struct"/>`),
			same(`1: unknown inType "win:Struct" of field "B"; write a <struct> element`),
			warns(`1: unknown inType "win:Struct" of field "B": the rest of the payload is opaque`),
		},
		{
			"inType that is spelled wrong, in a struct",
			inTemplate(`§1<struct name="S">
  §2<data name="B" inType="win:Unicode"/></struct>`),
			same(`2: unknown inType "win:Unicode" of field "B"; did you mean win:UnicodeString?`),
			warns(`1: unknown inType "win:Unicode" of field "B": the rest of the payload is opaque`),
		},
		{
			"a struct that a dump has lost",
			inTemplate("<data name=\"Count\" inType=\"win:UInt32\"/>\n<data name=\"A\" inType=\"win:UInt32\"/>\n<data name=\"B\" inType=\"win:UInt32\"/>\n§1<data name=\"Values\" inType=\"win:UInt8\" count=\"Count\"/>"),
			none,
			warns(`1: field "Values" is probably a struct: win:UInt8 has the number 4, which is the index that a dump gives a struct here: the rest of the payload is opaque`),
		},
		{
			"an array that cannot be a lost struct",
			inTemplate(`<data name="Count" inType="win:UInt32" outType="win:HexInt32"/><data name="A" inType="win:UInt32"/><data name="B" inType="win:UInt32"/><data name="Values" inType="win:UInt8" count="Count"/>`),
			none, none,
		},
		{
			"binary without a length, last",
			inTemplate(`§1<data name="A" inType="win:Binary"/>`),
			same(`1: field "A" has type win:Binary but no length; give the number of bytes, or the field that holds it`),
			warns(`1: field "A" has type win:Binary but no length: the field takes the rest of the payload`),
		},
		{
			"binary without a length, not last",
			inTemplate(`§1<data name="A" inType="win:Binary"/><data name="B" inType="win:UInt8"/>`),
			same(`1: field "A" has type win:Binary but no length; give the number of bytes, or the field that holds it`),
			warns(`1: field "A" has type win:Binary but no length: the rest of the payload is opaque`),
		},
		{
			"array of binary without a length",
			inTemplate(`<data name="N" inType="win:UInt8"/>§1<data name="A" inType="win:Binary" count="N"/>`),
			same(`1: field "A" has type win:Binary but no length; give the number of bytes, or the field that holds it`),
			warns(`1: field "A" has type win:Binary but no length: the rest of the payload is opaque`),
		},
		{
			"length names an absent field that is there without its spaces",
			inTemplate(`<data name="SHA1HashSize" inType="win:UInt32"/>§1<data name="A" inType="win:Binary" length="SHA1 Hash Size"/>`),
			same(`1: length of field "A" names "SHA1 Hash Size", but no earlier field has that name; name a field that comes before this one`),
			none,
		},
		{
			"length of binary names an absent field",
			inTemplate(`§1<data name="A" inType="win:Binary" length="Size"/>`),
			same(`1: length of field "A" names "Size", but no earlier field has that name; name a field that comes before this one`),
			warns(`1: length of field "A" names "Size", but no earlier field has that name: the field takes the rest of the payload`),
		},
		{
			"length of a string names an absent field",
			inTemplate(`§1<data name="A" inType="win:UnicodeString" length="Size"/>`),
			same(`1: length of field "A" names "Size", but no earlier field has that name; name a field that comes before this one`),
			warns(`1: length of field "A" names "Size", but no earlier field has that name: the rest of the payload is opaque`),
		},
		{
			"count names an absent field",
			inTemplate(`§1<data name="A" inType="win:UInt64" count="N"/>`),
			same(`1: count of field "A" names "N", but no earlier field has that name; name a field that comes before this one`),
			warns(`1: count of field "A" names "N", but no earlier field has that name: the rest of the payload is opaque`),
		},
		{
			"forward references",
			inTemplate(`§1<data name="A" inType="win:UInt64" count="N"/>§2<data name="B" inType="win:Binary" length="N"/><data name="N" inType="win:UInt8"/>`),
			same(`1: count of field "A" names "N", which comes later; move that field before this one`, `2: length of field "B" names "N", which comes later; move that field before this one`),
			same(`1: count of field "A" names "N", which comes later; move that field before this one`, `2: length of field "B" names "N", which comes later; move that field before this one`),
		},
		{
			"length of a fixed type",
			inTemplate(`§1<data name="A" inType="win:UInt64" length="8"/>`),
			same(`1: field "A" of type win:UInt64 cannot have a length, because its size is fixed; use count for an array`),
			same(`1: field "A" of type win:UInt64 cannot have a length, because its size is fixed; use count for an array`),
		},
		{
			"length on a counted type",
			inTemplate(`§1<data name="A" inType="win:CountedUnicodeString" length="8"/>`),
			same(`1: field "A" of type win:CountedUnicodeString cannot have a length; the payload holds one before each value`),
			same(`1: field "A" of type win:CountedUnicodeString cannot have a length; the payload holds one before each value`),
		},
		{
			"length of a SID",
			inTemplate(`<data name="N" inType="win:UInt32"/>§1<data name="A" inType="win:SID" length="N"/>`),
			same(`1: field "A" of type win:SID cannot have a length; its header already says it`),
			warns(`1: field "A" of type win:SID has a length, which is taken as an upper bound`),
		},
		{
			"counts that cannot count",
			inTemplate(`<data name="I" inType="win:Int32"/><data name="Q" inType="win:UInt64"/><data name="N" inType="win:UInt8"/><data name="Array" inType="win:UInt8" count="N"/><data name="S" inType="win:UnicodeString"/>
§1<data name="A" inType="win:UInt8" count="I"/>
§2<data name="B" inType="win:AnsiString" length="Q"/>
§3<data name="C" inType="win:Binary" length="Array"/>
§4<data name="D" inType="win:UInt8" count="S"/>`),
			same(`1: count of field "A" names "I" of type win:Int32; use one of type win:UInt8, win:UInt16 or win:UInt32`,
				`2: length of field "B" names "Q" of type win:UInt64; use one of type win:UInt8, win:UInt16 or win:UInt32`,
				`3: length of field "C" names "Array", which is an array; use a single integer`,
				`4: count of field "D" names "S" of type win:UnicodeString; use one of type win:UInt8, win:UInt16 or win:UInt32`),
			same(`1: count of field "A" names "I" of type win:Int32; use one of type win:UInt8, win:UInt16 or win:UInt32`,
				`2: length of field "B" names "Q" of type win:UInt64; use one of type win:UInt8, win:UInt16 or win:UInt32`,
				`3: length of field "C" names "Array", which is an array; use a single integer`,
				`4: count of field "D" names "S" of type win:UnicodeString; use one of type win:UInt8, win:UInt16 or win:UInt32`),
		},
		{
			"map on win:HexInt32",
			inProvider(`<maps><valueMap name="M"><map value="1" symbol="A"/></valueMap></maps><templates><template tid="T"><data name="A" inType="win:HexInt32" map="M"/></template></templates>`),
			none, none,
		},
		{
			"map on a signed integer",
			inProvider(`<maps><valueMap name="M"><map value="1" symbol="A"/></valueMap></maps><templates><template tid="T">§1<data name="A" inType="win:Int32" map="M"/></template></templates>`),
			same(`1: field "A" of type win:Int32 cannot have a map; use win:UInt8, win:UInt16 or win:UInt32`),
			warns(`1: field "A" of type win:Int32 cannot have a map; use win:UInt8, win:UInt16 or win:UInt32`),
		},
		{
			"undefined map",
			inTemplate(`§1<data name="A" inType="win:UInt32" map="M"/>`),
			same(`1: field "A" has map "M", which is not declared; declare it in <maps>`),
			warns(`1: field "A" has map "M", which is not declared: it is ignored`),
		},
		{
			"maps outside <maps>, with literal messages",
			inProvider(`§1<valueMap name="M">§2<map value="1" message="One"/></valueMap>§3<bitMap name="B">§4<map value="0x1" message="One"/></bitMap>`),
			warns(`1: valueMap outside <maps>; move it into <maps>`,
				`2: message "One" is not of the form $(string.id); move the text to the string table`,
				`3: bitMap outside <maps>; move it into <maps>`,
				`4: message "One" is not of the form $(string.id); move the text to the string table`),
			none,
		},
		{
			"opcodes beside their task",
			inProvider(`<tasks><task name="T" value="1"/>§1<opcodes><opcode name="O" value="11"/></opcodes></tasks><events><event value="1" symbol="E" task="T" opcode="O"/></events>`),
			same(`1: opcodes after task "T" instead of inside it; move them into the task`),
			warns(`1: opcodes after task "T" instead of inside it are taken as its own`),
		},
		{
			"unknown outTypes",
			inTemplate(`§1<data name="A" inType="win:UInt32" outType="xs:HexInt32"/>§2<data name="B" inType="win:UInt32" outType="win:hexInt32"/>§3<data name="C" inType="win:Float" outType="win:ErrorCode"/>`),
			warns(`1: unknown outType "xs:HexInt32" of field "A" is ignored; did you mean win:HexInt32?`,
				`2: unknown outType "win:hexInt32" of field "B" is ignored; did you mean win:HexInt32?`,
				`3: unknown outType "win:ErrorCode" of field "C" is ignored; for win:Float choose from xs:float`),
			none,
		},
		{
			"outType of another type",
			inTemplate(`§1<data name="A" inType="win:UInt64" outType="win:IPv4"/>`),
			warns(`1: outType win:IPv4 of field "A" does not fit win:UInt64 and is ignored; choose from xs:unsignedLong, win:HexInt64, win:ETWTIME, win:CodePointer`),
			none,
		},
		{
			"strings",
			withStrings(`§1<keywords>§2<keyword name="K" mask="0x1" message="$(string.absent)"/></keywords>
<templates><template tid="T"><data name="A" inType="win:UInt8"/></template></templates>
<events>§3<event value="1" symbol="E" template="T" message="$(string.two)"/><event value="2" symbol="F" template="T" message="$(string.typo)"/></events>`,
				`<string id="two" value="%1 and %2"/>
§4<string id="two" value="%1"/>
§5<string id="typo" value="100 %s of %1%n"/>`),
			warns(`2: message refers to string "absent", which no string table has; add it, or remove the message`,
				`3: the message of event 1 inserts %2, but the event has 1 field; correct the number`,
				`4: string "two" is already declared on line 6, and that one is used; remove one of them`,
				`5: "%s" in a message has no meaning and is shown as is; write %% for a percent sign`),
			none,
		},
		{
			"provider outside <events>",
			`<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation>
§1<provider name="P" symbol="P" guid="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f}"/></instrumentation></instrumentationManifest>`,
			warns(`1: provider outside <events>; move it into <events>`),
			none,
		},
		{
			"two providers with one guid",
			`<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>
<provider name="P" symbol="P" guid="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f}"><events><event value="1" symbol="E"/></events></provider>
§1<provider name="Q" symbol="Q" guid="{0F3E1C7A-52B4-4C1E-9D20-6A7B8C9D0E1F}"><events><event value="2" symbol="E"/></events></provider></events></instrumentation></instrumentationManifest>`,
			warns(`1: providers "P" and "Q" have the same guid; give each its own`),
			none,
		},
		{
			"two providers with one guid and one event",
			`<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>
<provider name="P" symbol="P" guid="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f}"><events><event value="1" symbol="E"/></events></provider>
§1<provider name="Q" symbol="Q" guid="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f}"><events>§2<event value="1" symbol="E"/></events></provider></events></instrumentation></instrumentationManifest>`,
			want{
				errors:   []string{`2: event 1 version 0 is also declared at t.man:2:85, by a provider with the same guid; change the value or version of one`},
				warnings: []string{`1: providers "P" and "Q" have the same guid; give each its own`},
			},
			none,
		},
		{
			"provider without a symbol",
			`<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>§1<provider name="P" guid="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f}"/></events></instrumentation></instrumentationManifest>`,
			warns(`1: provider "P" has no symbol, which Microsoft's compiler asks for; add one, such as "P"`), none,
		},
		{
			"bits of a bitMap",
			withStrings(`<maps><bitMap name="B"><map value="0x0" message="$(string.s)"/><map value="0x8" message="$(string.s)"/>§1<map value="0x3" message="$(string.s)"/></bitMap></maps>`, `<string id="s" value="text"/>`),
			warns(`1: value 0x3 of an entry of map "B" has more than one bit set; add an entry for each bit`),
			none,
		},
		{
			"user data, stray text, comments and foreign elements",
			inProvider(`<tasks><task name="T" value="1"><opcodes> <!-- none --> </opcodes></task>
>
<x:other xmlns:x="urn:x" a="1"><x:data name="no"/></x:other></tasks>
<templates><template tid="T"><data name="A" inType="win:UInt8"/><UserData><E xmlns="mine"><B>%7</B></E></UserData></template></templates>
<events><event value="1" symbol="E" template="T"/></events>`),
			none, none,
		},
		{
			"event without anything, and an empty template",
			inProvider(`<templates><template tid="Empty"/></templates><events><event value="0" symbol="E"/><event value="1" symbol="F" template="Empty"/></events>`),
			none, none,
		},
		{
			"elements and attributes that are spelled wrong",
			inProvider(`§1<tempaltes/><templates><template tid="T">§2<data name="A" inType="win:UInt8" outtype="xs:string"/></template></templates>`),
			warns(`1: element "tempaltes" has no meaning in provider and is ignored; did you mean "templates"?`,
				`2: attribute "outtype" of data has no meaning and is ignored; did you mean "outType"?`),
			none,
		},
		{
			"masks",
			inProvider(`<keywords>§1<keyword name="A" mask="0x3"/>§2<keyword name="B" mask="0x1000000000000"/>§3<keyword name="C" mask="0"/></keywords>`),
			same(`1: mask 0x3 of keyword "A" has more than one bit set; declare a keyword for each bit`,
				`2: mask 0x1000000000000 of keyword "B" is one of the bits from 48 on, which are reserved; use a lower one`,
				`3: mask 0 of keyword "C" has no bit set; set one`),
			warns(`1: mask 0x3 of keyword "A" has more than one bit set; declare a keyword for each bit`,
				`2: mask 0x1000000000000 of keyword "B" is one of the bits from 48 on, which are reserved; use a lower one`,
				`3: mask 0 of keyword "C" has no bit set; set one`),
		},
		{
			"symbols",
			inProvider(`<events>§1<event value="1" symbol="task.Start(1)"/><event value="2" symbol=""/></events>`),
			same(`1: symbol "task.Start(1)" of event 1 is not a C identifier; use letters, digits and _, and begin with a letter`),
			none,
		},
		{
			"Admin channels",
			inProvider(`<channels><channel name="A" chid="c" type="Admin" enabled="true"/></channels>
<events>§1<event value="1" symbol="E" channel="c" level="win:Verbose"/></events>`),
			same(`1: event 1 goes to the Admin channel "A" without a message; add one`,
				`1: event 1 goes to the Admin channel "A"; its level must be win:Critical, win:Error, win:Warning or win:Informational`),
			none,
		},
		{
			"undefined level and channel",
			inProvider(`<events>§1<event value="1" symbol="E" level="win:Warnings" channel="c"/></events>`),
			same(`1: event 1 has channel "c", which is not declared; declare it in <channels>`,
				`1: event 1 has level "win:Warnings", which is not declared; did you mean win:Warning?`),
			warns(`1: event 1 has channel "c", which is not declared: its value is taken to be 0`,
				`1: event 1 has level "win:Warnings", which is not declared: its value is taken to be 0`),
		},
		{
			"an opcode twice in one place",
			inProvider(`<tasks><task name="T" value="1"><opcodes><opcode name="O" value="11"/>§1<opcode name="O" value="12"/></opcodes></task></tasks>
<events><event value="1" symbol="E" task="T" opcode="O"/></events>`),
			same(`1: opcode "O" is already declared at t.man:2:42, and that one is used; rename one of them`),
			warns(`1: opcode "O" is already declared at t.man:2:42, and that one is used; rename one of them`),
		},
		{
			"channels",
			inProvider(`<channels>§1<channel name="A" type="Debug" enabled="yes"/>§2<channel name="" type="Debug" value="17"/>§3<channel name="A" type="Debug"/></channels>`),
			same(`1: enabled "yes" of channel "A" is not a boolean; write true or false`,
				`2: the name attribute of channel is empty; give it a value`,
				`3: channel "A" is already declared at t.man:2:11; rename one of them`),
			same(`1: enabled "yes" of channel "A" is not a boolean; write true or false`,
				`2: the name attribute of channel is empty; give it a value`,
				`3: channel "A" is already declared at t.man:2:11; rename one of them`),
		},
		{
			"levels and tasks",
			inProvider(`<levels><level name="L" value="16"/>§1<level name="L" value="17"/></levels><tasks>§2<task name="T" value="1" eventGUID="{1}"/></tasks>`),
			same(`1: level "L" is already declared at t.man:2:9; rename one of them`,
				`2: eventGUID "{1}" of task "T" is not a GUID of the form {00000000-0000-0000-0000-000000000000}`),
			same(`1: level "L" is already declared at t.man:2:9; rename one of them`,
				`2: eventGUID "{1}" of task "T" is not a GUID of the form {00000000-0000-0000-0000-000000000000}`),
		},
		{
			"entries of maps",
			inProvider(`<maps><valueMap name="M"><map value="1" symbol="A"/>§1<map value="1" symbol="B"/>§2<map value="2"/></valueMap></maps>`),
			warns(`1: map "M" has value 0x1 twice, first at t.man:2:26; remove one`,
				`2: an entry of map "M" has no message; add one`),
			none,
		},
		{
			"names of providers",
			`<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>
§1<provider name="` + strings.Repeat("p", 256) + `" symbol="P" guid="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f}"/>
§2<provider name="A:B" symbol="A" guid="{0f3e1c7b-52b4-4c1e-9d20-6a7b8c9d0e1f}"/></events></instrumentation></instrumentationManifest>`,
			want{
				errors:   []string{`1: the name of the provider is longer than 255 characters; shorten it`},
				warnings: []string{`2: the name of provider "A:B" has a character ':', which Windows does not allow; remove it`},
			},
			warns(`1: the name of the provider is longer than 255 characters; shorten it`),
		},
		{
			"structs",
			inTemplate(`§1<struct name="A"/>
<struct name="B">§2<struct name="C"><data name="x" inType="win:UInt8"/></struct></struct>
§3<struct name="D" length="4"><data name="x" inType="win:UInt8"/></struct>
§4<struct name="E" count="x"><data name="x" inType="win:UInt8"/></struct>`),
			same(`1: struct "A" has no members; add data elements to it`,
				`2: struct "C" is inside a struct; a struct can only hold data elements`,
				`3: struct "D" has a length; use count for the number of elements`,
				`4: count of field "E" names "x", but no earlier field has that name; name a field that comes before this one`),
			want{
				errors: []string{`1: struct "A" has no members; add data elements to it`,
					`2: struct "C" is inside a struct; a struct can only hold data elements`,
					`3: struct "D" has a length; use count for the number of elements`},
				warnings: []string{`4: count of field "E" names "x", but no earlier field has that name: the rest of the payload is opaque`},
			},
		},
		{
			"constant sizes out of range",
			inTemplate(`§1<data name="A" inType="win:UInt8" count="4294967296"/>§2<data name="B" inType="win:UInt8" count="0"/>§3<data name="C" inType="win:Binary" length="99999999999999999999999"/>`),
			same(`1: count 4294967296 of field "A" is not between 1 and 65535; for a number that varies, give the name of a field`,
				`2: count 0 of field "B" is not between 1 and 65535; for a number that varies, give the name of a field`,
				`3: length 99999999999999999999999 of field "C" is not between 1 and 65535; for a number that varies, give the name of a field`),
			same(`1: count 4294967296 of field "A" is not between 1 and 65535; for a number that varies, give the name of a field`,
				`2: count 0 of field "B" is not between 1 and 65535; for a number that varies, give the name of a field`,
				`3: length 99999999999999999999999 of field "C" is not between 1 and 65535; for a number that varies, give the name of a field`),
		},
		{
			"fields with one name",
			inTemplate(`<data name="A" inType="win:UInt8"/>§1<data name="A" inType="win:UInt8"/>`),
			same(`1: template "T" has two fields named "A", the first at t.man:3:1; rename one of them`),
			warns(`1: template "T" has two fields named "A", the first at t.man:3:1; rename one of them`),
		},
		{
			"attributes that are missing",
			inProvider(`<keywords>§1<keyword/></keywords><tasks>§2<task name="T"/></tasks><templates>§3<template><data name="a"/></template></templates><events>§4<event symbol="E"/></events>`),
			same(`1: keyword "" has no mask attribute; add one`, `1: keyword has no name attribute; add one`,
				`2: task "T" has no value attribute; add one`,
				`3: template has no tid attribute; add one`,
				`2:84: field "a" has no inType attribute; add one`,
				`4: event has no value attribute; add one`),
			same(`1: keyword "" has no mask attribute; add one`, `1: keyword has no name attribute; add one`,
				`2: task "T" has no value attribute; add one`,
				`3: template has no tid attribute; add one`,
				`2:84: field "a" has no inType attribute; add one`,
				`4: event has no value attribute; add one`),
		},
		{
			"providers without an identity",
			`<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>
§1<provider name="A" symbol="A"/>
§2<provider guid="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f}"/>
§3<provider name="B" symbol="B" guid="0f3e"/>
§4<provider name="C" symbol="C" guid="{00000000-0000-0000-0000-000000000000}"/></events></instrumentation></instrumentationManifest>`,
			same(`1: provider "A" has no guid attribute; give it a new GUID`,
				`2: provider has no name attribute; add one`,
				`3: guid "0f3e" of provider "B" is not a GUID of the form {00000000-0000-0000-0000-000000000000}`,
				`4: the guid of provider "C" is zero; give it a new GUID`),
			same(`1: provider "A" has no guid attribute; give it a new GUID`,
				`2: provider has no name attribute; add one`,
				`3: guid "0f3e" of provider "B" is not a GUID of the form {00000000-0000-0000-0000-000000000000}`,
				`4: the guid of provider "C" is zero; give it a new GUID`),
		},
		{
			"no namespace",
			`§1<instrumentationManifest><instrumentation><events><provider name="P" symbol="P" guid="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f}"/></events></instrumentation></instrumentationManifest>`,
			same(`1: the manifest has no namespace; add xmlns="http://schemas.microsoft.com/win/2004/08/events"`),
			warns(`1: the manifest has no namespace; add xmlns="http://schemas.microsoft.com/win/2004/08/events"`),
		},
		{
			"an attribute twice",
			inProvider(`<events>§1<event value="1" symbol="E" value="2"/></events>`),
			same(`1: element "event" has attribute "value" twice; remove one`),
			same(`1: element "event" has attribute "value" twice; remove one`),
		},
		{
			"undeclared prefix of an element",
			inProvider(`§1<x:thing/>`),
			same(`1: prefix "x" of element "thing" is not declared; declare it with xmlns:x`),
			warns(`1: prefix "x" of element "thing" is not declared; declare it with xmlns:x`),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src, places := unmark(t, tt.src)
			t.Run("strict", func(t *testing.T) {
				checkDiagnostics(t, src, places, Options{}, tt.strict.errors, tt.strict.warnings)
			})
			t.Run("lenient", func(t *testing.T) {
				checkDiagnostics(t, src, places, Options{Lenient: true}, tt.lenient.errors, tt.lenient.warnings)
			})
		})
	}
}

// TestNotes checks the warnings that only Options.Notes asks for.
func TestNotes(t *testing.T) {
	src, places := unmark(t, inProvider(`<levels>§1<level name="L" value="6"/></levels><tasks>§2<task name="T" value="0"/>§3<task name="U" value="240"/></tasks>
<opcodes>§4<opcode name="O" value="9"/>§5<opcode name="P" value="241"/></opcodes>`))
	want := []string{
		`1: value 6 of level "L" is reserved; levels of a provider range from 16 to 255`,
		`2: value 0 of task "T" is outside the documented range of 1 to 239`,
		`3: value 240 of task "U" is outside the documented range of 1 to 239`,
		`4: value 9 of opcode "O" is reserved for win:Send; use one from 10 to 239`,
		`5: value 241 of opcode "P" is reserved; use one from 10 to 239`,
	}
	checkDiagnostics(t, src, places, Options{Notes: true}, nil, want)
	checkDiagnostics(t, src, places, Options{Notes: true, Lenient: true}, nil, want)
}
