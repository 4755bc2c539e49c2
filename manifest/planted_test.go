package manifest

import (
	"strings"
	"testing"
	"unicode/utf16"
)

// sound is a manifest without a fault, in which faults are planted.
const sound = `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events" xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<instrumentation><events>
<provider name="Contoso-Till" guid="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f}" symbol="TILL" resourceFileName="till.exe" messageFileName="till.exe">
<channels><channel name="Contoso-Till/Admin" chid="ADM" type="Admin" enabled="true"/></channels>
<levels><level name="Chatty" value="17"/></levels>
<tasks><task name="Sale" value="1"/><task name="Return" value="2"/></tasks>
<opcodes><opcode name="Pay" value="20"/></opcodes>
<keywords><keyword name="Money" mask="0x1"/><keyword name="Goods" mask="0x2"/></keywords>
<maps>
<valueMap name="Tender"><map value="0" message="$(string.cash)"/><map value="1" message="$(string.card)"/></valueMap>
<bitMap name="Extras"><map value="0x1" message="$(string.gift)"/><map value="0x2" message="$(string.bag)"/></bitMap>
</maps>
<templates>
<template tid="Sold">
<data name="Article" inType="win:UnicodeString"/>
<data name="Tender" inType="win:UInt8" map="Tender"/>
<data name="Extras" inType="win:UInt32" map="Extras"/>
<data name="Size" inType="win:UInt16" outType="xs:unsignedShort"/>
<data name="Blob" inType="win:Binary" length="Size"/>
<struct name="Lines" count="Size"><data name="Price" inType="win:UInt32"/></struct>
</template>
</templates>
<events>
<event value="1" symbol="SOLD" template="Sold" task="Sale" opcode="Pay" keywords="Money Goods" level="win:Warning" channel="ADM" message="$(string.sold)"/>
<event value="2" symbol="ASKED" task="Return" level="Chatty"/>
</events>
</provider>
</events></instrumentation>
<localization><resources culture="en-US"><stringTable>
<string id="cash" value="cash"/><string id="card" value="card"/><string id="gift" value="gift"/><string id="bag" value="bag"/>
<string id="sold" value="Sold %1"/>
</stringTable></resources></localization>
</instrumentationManifest>
`

// planted are faults, one of each kind: the text replaced, its replacement, and the message.
// Those without a message are legal.
var planted = []struct{ name, old, new, said string }{
	{"a channel without a type", `type="Admin" `, ``,
		`4:11: channel "Contoso-Till/Admin" has no type; choose Admin, Operational, Analytic or Debug`},
	{"a provider without a symbol", `symbol="TILL" `, ``,
		`3:1: provider "Contoso-Till" has no symbol, which Microsoft's compiler asks for; add one, such as "Contoso_Till"`},
	{"nine channels", `</channels>`, `
<channel name="A" type="Debug"/><channel name="B" type="Debug"/><channel name="C" type="Debug"/>
<channel name="D" type="Debug"/><channel name="E" type="Debug"/><importChannel name="System"/>
<importChannel name="Security"/><importChannel name="Application"/></channels>`,
		`7:33: provider "Contoso-Till" has more than 8 channels, which Microsoft's compiler does not take; leave some out`},
	{"an element that does not end", `<tasks><task name="Sale" value="1"/>`, `<tasks><task name="Sale" value="1">`,
		`6:67: not well-formed XML at "</tasks>": element "task" of line 6 is still open here; close it first`},
	{"an inType that is misspelt", `inType="win:UInt8"`, `inType="win:Uint8"`,
		`16:1: unknown inType "win:Uint8" of field "Tender"; did you mean win:UInt8?`},
	{"an inType that does not exist", `inType="win:UInt8"`, `inType="win:Byte"`,
		`16:1: unknown inType "win:Byte" of field "Tender"; use one that Windows defines, such as win:UInt32`},
	{"an outType that does not fit", `outType="xs:unsignedShort"`, `outType="win:PID"`,
		`18:1: outType win:PID of field "Size" does not fit win:UInt16 and is ignored; choose from xs:unsignedShort, win:HexInt16, win:Port, xs:string`},
	{"an outType that does not exist", `outType="xs:unsignedShort"`, `outType="xs:word"`,
		`18:1: unknown outType "xs:word" of field "Size" is ignored; for win:UInt16 choose from xs:unsignedShort, win:HexInt16, win:Port, xs:string`},
	{"a length by no field", `length="Size"`, `length="Sizes"`,
		`19:1: length of field "Blob" names "Sizes", but no earlier field has that name; name a field that comes before this one`},
	{"a length by a later field", `<data name="Article" inType="win:UnicodeString"/>`, `<data name="Article" inType="win:UnicodeString" length="Size"/>`,
		`15:1: length of field "Article" names "Size", which comes later; move that field before this one`},
	{"a length by a text", `length="Size"`, `length="Article"`,
		`19:1: length of field "Blob" names "Article" of type win:UnicodeString; use one of type win:UInt8, win:UInt16 or win:UInt32`},
	{"a count by no field", `count="Size"`, `count="Sizes"`,
		`20:1: count of field "Lines" names "Sizes", but no earlier field has that name; name a field that comes before this one`},
	{"binary data without a length", ` length="Size"`, ``,
		`19:1: field "Blob" has type win:Binary but no length; give the number of bytes, or the field that holds it`},
	{"a length of a number", `inType="win:UInt8"`, `inType="win:UInt8" length="2"`,
		`16:1: field "Tender" of type win:UInt8 cannot have a length, because its size is fixed; use count for an array`},
	{"a struct in a struct", `<data name="Price" inType="win:UInt32"/>`, `<struct name="In"><data name="Price" inType="win:UInt32"/></struct>`,
		`20:35: struct "In" is inside a struct; a struct can only hold data elements`},
	{"a field twice", `<data name="Extras"`, `<data name="Tender"`,
		`17:1: template "Sold" has two fields named "Tender", the first at t.man:16:1; rename one of them`},
	{"a field without a name", `<data name="Extras"`, `<data`,
		`17:1: data has no name attribute; add one`},
	{"a map of a text", `<data name="Article" inType="win:UnicodeString"/>`, `<data name="Article" inType="win:UnicodeString" map="Tender"/>`,
		`15:1: field "Article" of type win:UnicodeString cannot have a map; use win:UInt8, win:UInt16 or win:UInt32`},
	{"a map that does not exist", `map="Extras"`, `map="Extra"`,
		`17:1: field "Extras" has map "Extra", which is not declared; did you mean "Extras"?`},
	{"a value of a map twice", `<map value="1" message="$(string.card)"/>`, `<map value="0" message="$(string.card)"/>`,
		`10:66: map "Tender" has value 0x0 twice, first at t.man:10:25; remove one`},
	{"two bits in a bit map", `<map value="0x2"`, `<map value="0x3"`,
		`11:66: value 0x3 of an entry of map "Extras" has more than one bit set; add an entry for each bit`},
	{"a template twice", `</templates>`, `<template tid="Sold"><data name="A" inType="win:UInt8"/></template></templates>`,
		`22:1: template "Sold" is already declared at t.man:14:1; rename one of them`},
	{"a template that does not exist", `template="Sold"`, `template="Sale"`,
		`24:1: event 1 has template "Sale", which is not declared; declare it in <templates>`},
	{"a task that does not exist", `task="Return"`, `task="Returns"`,
		`25:1: event 2 has task "Returns", which is not declared; did you mean "Return"?`},
	{"a task's value twice", `<task name="Return" value="2"/>`, `<task name="Return" value="1"/>`,
		`6:37: value 1 of task "Return" is also that of the task at t.man:6:8, and events cannot tell them apart; give it another one`},
	{"an opcode that does not exist", `opcode="Pay"`, `opcode="Paid"`,
		`24:1: event 1 has opcode "Paid", which is not declared; declare it in <opcodes>`},
	{"an opcode of Windows' own values", `<opcode name="Pay" value="20"/>`, `<opcode name="Pay" value="1"/>`,
		`7:10: value 1 of opcode "Pay" is reserved for win:Start; use one from 10 to 239`},
	{"a keyword that does not exist", `keywords="Money Goods"`, `keywords="Money Good"`,
		`24:1: event 1 has keyword "Good", which is not declared; did you mean "Goods"?`},
	{"a keyword's bit twice", `mask="0x2"`, `mask="0x1"`,
		`8:45: mask 0x1 of keyword "Goods" is also that of the keyword at t.man:8:11, and sessions cannot tell them apart; give it another bit`},
	{"a keyword of two bits", `mask="0x2"`, `mask="0x6"`,
		`8:45: mask 0x6 of keyword "Goods" has more than one bit set; declare a keyword for each bit`},
	{"a keyword of Windows' own bits", `mask="0x2"`, `mask="0x1000000000000"`,
		`8:45: mask 0x1000000000000 of keyword "Goods" is one of the bits from 48 on, which are reserved; use a lower one`},
	{"a level that does not exist", `level="win:Warning"`, `level="win:Warn"`,
		`24:1: event 1 has level "win:Warn", which is not declared; did you mean win:Warning?`},
	{"a level of Windows' own values", `<level name="Chatty" value="17"/>`, `<level name="Chatty" value="4"/>`,
		`5:9: value 4 of level "Chatty" is reserved; levels of a provider range from 16 to 255`},
	{"a channel that does not exist", `channel="ADM"`, `channel="ADMIN"`,
		`24:1: event 1 has channel "ADMIN", which is not declared; declare it in <channels>`},
	{"a type of channel that does not exist", `type="Admin"`, `type="Administrative"`,
		`4:11: type "Administrative" of channel "Contoso-Till/Admin" does not exist; choose Admin, Operational, Analytic or Debug`},
	{"an event for administrators without a message", ` message="$(string.sold)"`, ``,
		`24:1: event 1 goes to the Admin channel "Contoso-Till/Admin" without a message; add one`},
	{"a text that does not exist", `message="$(string.sold)"`, `message="$(string.sale)"`,
		`24:1: message refers to string "sale", which no string table has; add it, or remove the message`},
	{"a text twice", `<string id="card"`, `<string id="cash"`,
		"10:66: message refers to string \"card\", which no string table has; add it, or remove the message\n30:33: string \"cash\" is already declared on line 30, and that one is used; remove one of them"},
	{"a text for no field", `value="Sold %1"`, `value="Sold %9"`,
		`24:1: the message of event 1 inserts %9, but the event has 6 fields; correct the number`},
	{"an event twice", `<event value="2"`, `<event value="1"`,
		`25:1: event 1 version 0 is already declared at t.man:24:1; change the value or version of one`},
	{"a symbol twice", `symbol="ASKED"`, `symbol="SOLD"`,
		`25:1: symbol "SOLD" of event 2 is also that of the event at t.man:24:1, and a type or a macro in C is for one; change the symbol of one`},
	{"a symbol that C cannot have", `symbol="ASKED"`, `symbol="ASKED-FOR"`,
		`25:1: symbol "ASKED-FOR" of event 2 is not a C identifier; use letters, digits and _, and begin with a letter`},
	{"an event without a value", `<event value="2" `, `<event `,
		`25:1: event has no value attribute; add one`},
	{"an event beyond 65535", `<event value="2"`, `<event value="65536"`,
		`25:1: event 65536 has an id above 65535, which does not fit in the header of an event; use a lower one`},
	{"a version beyond 255", `<event value="2"`, `<event value="2" version="256"`,
		`25:1: version "256" of event 2 is not a number from 0 to 255`},
	{"a provider without a GUID", ` guid="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f}"`, ``,
		`3:1: provider "Contoso-Till" has no guid attribute; give it a new GUID`},
	{"a GUID that does not exist", `{0f3e1c7a-52b4`, `{0f3e1c7-52b4`,
		`3:1: guid "{0f3e1c7-52b4-4c1e-9d20-6a7b8c9d0e1f}" of provider "Contoso-Till" is not a GUID of the form {00000000-0000-0000-0000-000000000000}`},
	{"a provider without a name", `<provider name="Contoso-Till"`, `<provider`,
		`3:1: provider has no name attribute; add one`},
	{"an attribute that does not exist", `template="Sold"`, `tempalte="Sold"`,
		"24:1: attribute \"tempalte\" of event has no meaning and is ignored; did you mean \"template\"?\n24:1: the message of event 1 inserts %1, but the event has 0 fields; correct the number"},
	{"an element that does not exist", `<tasks><task name="Sale" value="1"/><task name="Return" value="2"/></tasks>`, `<task name="Sale" value="1"/>`,
		"6:1: element \"task\" has no meaning in provider and is ignored, so 1 reference cannot be resolved; move it into <tasks>\n25:1: event 2 has task \"Return\", which is not declared; declare it in <tasks>"},
	{"a byte that is not UTF-8", `Sold %1`, "Sold \xe4",
		`31:31: byte 0xe4 is not UTF-8; save the file as UTF-8`},
	{"an encoding that does not exist", `<instrumentationManifest`, `<?xml version="1.0" encoding="utf-16"?><instrumentationManifest`,
		`1:40: not well-formed XML: xml: opening charset "utf-16": the file is not in the encoding "utf-16" that it declares, or etwgen does not know that encoding; save it as UTF-8`},
	{"a template that no event has", `<event value="1" symbol="SOLD" template="Sold"`, `<event value="1" symbol="SOLD"`,
		`24:1: the message of event 1 inserts %1, but the event has 0 fields; correct the number`},

	{"a count by a later field", `<struct name="Lines" count="Size"><data name="Price" inType="win:UInt32"/></struct>`, `<struct name="Lines" count="Later"><data name="Price" inType="win:UInt32"/></struct><data name="Later" inType="win:UInt16"/>`,
		`20:1: count of field "Lines" names "Later", which comes later; move that field before this one`},
	{"a struct without members", `<data name="Price" inType="win:UInt32"/>`, ``,
		`20:1: struct "Lines" has no members; add data elements to it`},
	{"an array of no elements", `inType="win:UInt8"`, `inType="win:UInt8" count="0"`,
		`16:1: count 0 of field "Tender" is not between 1 and 65535; for a number that varies, give the name of a field`},
	{"a channel's id twice", `<channels>`, `<channels><channel name="Till/Log" chid="ADM" type="Operational"/>`,
		`4:67: channel "ADM" is already declared at t.man:4:11; rename one of them`},
	{"a mask without a bit", `mask="0x2"`, `mask="0x0"`,
		`8:45: mask 0 of keyword "Goods" has no bit set; set one`},
	{"a mask beyond 64 bits", `mask="0x2"`, `mask="0x10000000000000000"`,
		`8:45: mask "0x10000000000000000" of keyword "Goods" is not a number from 0 to 18446744073709551615`},
	{"a map without entries", `<map value="0" message="$(string.cash)"/><map value="1" message="$(string.card)"/>`, ``,
		`10:1: map "Tender" has no entries; add them, or remove the map`},
	{"a provider's symbol that C cannot have", `symbol="TILL"`, `symbol="T-ILL"`,
		`3:1: symbol "T-ILL" of provider "Contoso-Till" is not a C identifier; use letters, digits and _, and begin with a letter`},
	{"a text that is not referred to as one", `message="$(string.sold)"`, `message="string.sold"`,
		`24:1: message "string.sold" is not of the form $(string.id); move the text to the string table`},
	{"texts of no language", ` culture="en-US"`, ``,
		`29:15: resources has no culture attribute; add one`},
	{"a language by its English name", `culture="en-US"`, `culture="english"`,
		`29:15: culture "english" is no name of a locale; write one such as en-US`},
	{"a Boolean that is not one", `enabled="true"`, `enabled="yes"`,
		`4:11: enabled "yes" of channel "Contoso-Till/Admin" is not a boolean; write true or false`},

	// Things that look like one.
	{"an encoding of no other characters than UTF-8", `<instrumentationManifest`, `<?xml version="1.0" encoding="latin-9"?><instrumentationManifest`, ""},
	{"a number that is shown as a character", `outType="xs:unsignedShort"`, `outType="xs:string"`, ""},
	{"a text that nothing has", `</stringTable>`, `<string id="x" value="x"/></stringTable>`, ""},
	{"an event with no task", ` task="Return"`, ``, ""},
	{"a bit map's name for no bit", `<map value="0x2"`, `<map value="0x0"`, ""},
	{"an id in hexadecimal", `<event value="2"`, `<event value="0x2"`, ""},
	{"a task of the value 0", `<task name="Return" value="2"/>`, `<task name="Return" value="0"/>`, ""},
	{"an event of two versions", `</events>
</provider>`, `<event value="2" version="1" symbol="ASKED_V1"/></events>
</provider>`, ""},
	{"a symbol that the compiler is to make of the name", `symbol="TILL"`, `symbol=""`, ""},
	{"a provider whose file the installation names", ` resourceFileName="till.exe"`, ``, ""},
	{"a text that ends before its end", `value="Sold %1"`, `value="Sold %1%0x"`, ""},
	{"a text in JSON of single bytes", `<data name="Article" inType="win:UnicodeString"/>`, `<data name="Article" inType="win:AnsiString" outType="win:Json"/>`, ""},
	{"a field that is called as another, but for case", `<data name="Extras"`, `<data name="tender"`, ""},
}

// Each fault is found, where it is, with its remedy.
func TestPlanted(t *testing.T) {
	mustParse(t, sound, Options{})
	for _, c := range planted {
		if strings.Count(sound, c.old) != 1 {
			t.Errorf("%s: %q is there %d times", c.name, c.old, strings.Count(sound, c.old))
		}
		_, warnings, err := Parse("t.man", []byte(strings.Replace(sound, c.old, c.new, 1)), Options{})
		errs, _ := err.(ErrorList)
		said := strings.Join(diagnostics(append(errs, warnings...), nil), "\n")
		if said != c.said {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, said, c.said)
		}
	}
}

// A file as some editors write it, in UTF-16 without a mark, is read.
func TestPlantedWide(t *testing.T) {
	var wide []byte
	for _, u := range utf16.Encode([]rune(sound)) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	mustParse(t, string(wide), Options{})
}
