// Package manifest reads ETW instrumentation manifests.
//
// An instrumentation manifest is the XML file in which a provider of Windows
// events declares what it writes. Each event has an id and a version, which
// together tell one layout from another, and a template: the fields that follow
// each other in the payload, back to back and without alignment. The rest says
// how to choose events (levels, keywords, channels), what they belong to (tasks,
// opcodes) and how to show them (maps, messages, strings for each language).
// The message compiler of Windows, mc.exe, makes C code out of a manifest, and
// the resource that the event log reads; package gen makes Go code.
//
// [Parse] returns the model of a whole file, with every reference resolved:
// Event.Template is the template, not its name, and Size.Field is the field that
// a count= or length= means. Events that Windows defines to be 0 where they say
// nothing have nil there. Each part knows its place in the file.
//
// # What is accepted
//
// In strict mode, for manifests that people write, Parse agrees with the
// message compiler: what it refuses is an error, and so is what cannot work.
// What is only doubtful is a warning: names that mean nothing, strings that are
// not there, a rendering that does not go with a type.
//
// In lenient mode it also accepts what dumps of registered providers contain.
// Those have lost parts of the manifest that they come from, and mistaken
// others. Where the layout of a payload is not known any more, the fields up to
// there are kept, and an opaque field takes the place of the rest, with the
// reason; a field is never guessed at in the middle of others. Lenient mode
// warns only where something is lost or reinterpreted.
//
// Neither mode accepts XML that is not well-formed, document type declarations,
// elements that nest deeper than any manifest has reason to, references to what
// is not declared where the layout or the meaning hangs on it, or numbers that
// do not fit where ETW has them. All errors of a file are reported, each with
// its place and with what to do, and there is no model if there is one.
//
// The time and the memory that a file takes are in proportion to its size,
// whatever is in it.
//
// # What is left out
//
// User data, filters, named queries, the settings of channels, and everything in
// foreign namespaces are skipped: they say nothing about payloads. Structs in
// structs are refused.
//
// # Extensions
//
// Attributes in the namespace [ExtensionNamespace] say what the schema of
// Windows has no place for, and Windows ignores them:
//
//   - etwgen:doc is documentation. Events, templates, fields, structs, keywords,
//     levels, tasks, opcodes, maps, their entries and providers can have it. Long
//     texts can be in an element <etwgen:doc> instead. Line ends and indents do
//     not matter, but an empty line separates paragraphs.
//   - etwgen:name, in the same places, is the name in Go code.
//   - etwgen:count, on fields and structs, is the count that the provider really
//     writes, where the manifest's own is wrong: a number, the name of an earlier
//     field, or * for as many elements as fit in the rest of the payload.
//
// Any other name in this namespace is an error.
package manifest
