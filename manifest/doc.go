// Package manifest reads ETW instrumentation manifests. Use it for tools that check,
// compare or convert manifests; to make Go code of one there is package gen.
//
// An instrumentation manifest is the XML file in which a provider of Windows events declares
// its events. Each event has an id and a version, which together tell one layout from
// another, and a template: the fields that follow each other in the payload, back to back
// and without alignment. The rest says how to choose events (levels, keywords, channels),
// how to group them (tasks, opcodes) and how to show them (maps, messages, strings for each
// language). The message compiler of Windows, mc.exe, makes C code out of a manifest, and
// the resource that the event log reads; package gen makes Go code.
//
// [Parse] returns the model of a whole file, with every reference resolved: Event.Template
// is the template, not its name, and Size.Field is the field that a count= or length= names.
// A part that an event leaves out, such as its level or task, is nil; Windows takes it as 0.
// Each part knows its place in the file.
//
// # Accepted manifests
//
// In strict mode, for manifests that people write, Parse agrees with the message compiler: a
// manifest that the compiler refuses is an error, and so is one that cannot work. A doubtful
// one brings a warning: elements that mean nothing, strings that are missing, reserved
// opcodes, an outType that does not fit its inType.
//
// In lenient mode Parse also accepts the dumps of registered providers. A dump has lost
// parts of the original manifest and has others wrong. Where the layout of a payload is no
// longer known, the fields before that point are kept, and an opaque field with the reason
// takes the place of the rest; Parse never guesses at a field in the middle of others.
// Lenient mode warns only where something is lost or reinterpreted.
//
// Neither mode accepts XML that is not well-formed, document type declarations,
// elements that are nested deeper than any manifest needs, references to
// undeclared things that determine a layout or a meaning, or numbers that do not
// fit where ETW stores them. All errors of a file are reported, each with its
// place and a remedy, and a file with an error has no model. A fault is reported
// once, where it is, and not again in each place that suffers from it.
//
// The time and the memory that a file takes are proportional to its size,
// whatever it contains.
//
// # Manifests of EventSources
//
// .NET makes a manifest of the class of an EventSource, and Parse knows it by its event 0,
// EventSourceMessage. They have parts that the message compiler would refuse: map values
// with the sign of an enum in 64 bits, of which the low 32 count; resources of no culture;
// two fields of one name. Both modes accept that, and Options.Notes asks for a word on each.
//
// A self-describing EventSource writes other bytes than its manifest says, and other
// ids. Nothing in the manifest tells that it is one: etwgen:events does, or
// Options.SelfDescribing. A Boolean then takes one byte, binary data has its length
// before it in 2 bytes, in place of the field for it, and events go by their names.
//
// # Other forms
//
// [Manifest.AppendXML] writes a manifest, and package wevt reads and writes the binary form.
// [Compare] lists the changes between two versions.
//
// # Parts that are left out
//
// Filters, named queries, the settings of channels, and everything in
// foreign namespaces are skipped: they say nothing about payloads. Nested structs
// are errors.
//
// # Extensions
//
// Attributes in the namespace [ExtensionNamespace] hold facts for which the schema of
// Windows has no place, and Windows ignores them:
//
//   - etwgen:doc is documentation. Events, templates, fields, structs, keywords,
//     levels, tasks, opcodes, maps, their entries and providers can have it. Long
//     texts can be in an element <etwgen:doc> instead. Line breaks and indentation
//     do not matter, but an empty line separates paragraphs.
//   - etwgen:name, in the same places, is the name in Go code.
//   - etwgen:count, on fields and structs, is the count that the provider actually
//     writes, where the count= of the manifest is wrong: a number, the name of an
//     earlier field, or * for as many elements as fit in the rest of the payload.
//   - etwgen:length="*", on a field of type win:Binary at the end of a template,
//     takes the rest of the payload.
//   - etwgen:when, on fields, says which payloads have the field. ptr4 and ptr8
//     are those with pointers of that size: that is for the padding of structures.
//     rest>=N are those of which at least N bytes are left, and rest is short for
//     rest>=1: that is for fields at the end of an event that came later, without
//     a new version. Only such fields can follow, N is at most what the field
//     takes at least, and no member of a struct can have it.
//   - etwgen:opaque, on a field, says why the layout is unknown from there on: what
//     the field and those after it take is the rest of the payload. It is for
//     manifests that were made of something damaged.
//   - etwgen:inType, on fields, is a type that the schema has no name for. There
//     is wbemsid: a SID behind the TOKEN_USER structure that points to it, as
//     classic events have it (see [etw.TokenUser]); inType is win:SID then. And
//     there is bool8, a Boolean of one byte; inType is win:Boolean then. varuint and
//     varint are integers in LEB128, 7 bits a byte, the second with its sign in the
//     lowest bit, as nettrace has them; inType is win:UInt64 or win:Int64 then.
//   - etwgen:events="classic", on a provider, says that its events are classic
//     ones, as the kernel and MOF providers log them. etwgen:events="self-describing"
//     says that it is a self-describing EventSource, and etwgen:events="eventsource" that it
//     is an EventSource, where event 0 is missing.
//   - etwgen:named, on events, is the name by which records identify the event, as
//     those of TraceLogging do. Its value tells it from other events of the file,
//     and no record has it.
//   - etwgen:level, on events, is the level that a session needs for the event, where the
//     provider looks for a higher one than that with which it writes the event.
//   - etwgen:fields, on events, says what the provider actually writes, where that is
//     not what the template says: see [Event.Override]. [Overrides] say the same, in a
//     file beside the manifest.
//
// # Classic events
//
// A classic event has no id. Its record has a class, an opcode and a version, and an
// instrumentation manifest has a place for all three: a task stands for a class, with its
// GUID as the eventGUID, and has the opcodes of the class. So with etwgen:events="classic"
// an event needs a task with an eventGUID and an opcode, and no two events may agree in both
// and in the version; value means nothing (the opcode is a good one), and opcodes below 10
// have the meanings of the class. [Event.Kind] is [etw.KindClassic].
//
// Other names for the contents of classic events are those of the schema: a size_t is a
// win:Pointer with outType xs:unsignedLong, a port a win:UInt16 with win:Port, an address a
// win:UInt32 with win:IPv4 or a win:Binary of length 16 with win:IPv6, a value of the
// session's clock a win:UInt64 with win:ETWTIME, and text of fixed size a string with a
// length.
//
// Any other name in this namespace is an error.
package manifest
