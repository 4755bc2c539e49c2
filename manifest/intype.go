package manifest

import (
	"slices"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Opaque is the type of a field that stands for a layout which a dump has lost.
// It has no number of Windows.
const Opaque etw.InType = 0xff

// TypeName returns the manifests' name of a type, and "opaque" for [Opaque].
func TypeName(t etw.InType) string {
	if t == Opaque {
		return "opaque"
	}
	return t.String()
}

// outTypes holds the ways to render each type, the default first.
var outTypes = map[etw.InType][]etw.OutType{
	etw.InUnicodeString: {etw.OutString, etw.OutXML, etw.OutJSON},
	etw.InAnsiString:    {etw.OutString, etw.OutUTF8, etw.OutXML, etw.OutJSON},
	etw.InInt8:          {etw.OutInt8, etw.OutString},
	etw.InUInt8:         {etw.OutUInt8, etw.OutHexInt8, etw.OutString, etw.OutBoolean},
	etw.InInt16:         {etw.OutInt16},
	etw.InUInt16:        {etw.OutUInt16, etw.OutHexInt16, etw.OutPort, etw.OutString},
	etw.InInt32:         {etw.OutInt32, etw.OutHResult},
	etw.InUInt32: {etw.OutUInt32, etw.OutHexInt32, etw.OutPID, etw.OutTID, etw.OutIPv4, etw.OutETWTime,
		etw.OutWin32Error, etw.OutNTStatus, etw.OutHResult, etw.OutCodePointer},
	etw.InInt64:                {etw.OutInt64},
	etw.InUInt64:               {etw.OutUInt64, etw.OutHexInt64, etw.OutETWTime, etw.OutCodePointer},
	etw.InFloat:                {etw.OutFloat},
	etw.InDouble:               {etw.OutDouble},
	etw.InBoolean:              {etw.OutBoolean},
	etw.InBinary:               {etw.OutHexBinary, etw.OutIPv6, etw.OutSocketAddress, etw.OutPKCS7},
	etw.InBool8:                {etw.OutBoolean},
	etw.InGUID:                 {etw.OutGUID},
	etw.InPointer:              {etw.OutHexInt64, etw.OutUInt64, etw.OutInt64, etw.OutCodePointer},
	etw.InFileTime:             {etw.OutDateTime, etw.OutCIMDateTime, etw.OutDateTimeCulture, etw.OutDateTimeUTC},
	etw.InSystemTime:           {etw.OutDateTime, etw.OutCIMDateTime, etw.OutDateTimeCulture, etw.OutDateTimeUTC},
	etw.InSID:                  {etw.OutString},
	etw.InWBEMSID:              {etw.OutString},
	etw.InHexInt32:             {etw.OutHexInt32, etw.OutWin32Error, etw.OutNTStatus, etw.OutHResult, etw.OutCodePointer},
	etw.InHexInt64:             {etw.OutHexInt64, etw.OutCodePointer},
	etw.InCountedUnicodeString: {etw.OutString, etw.OutXML, etw.OutJSON},
	etw.InCountedAnsiString:    {etw.OutString, etw.OutUTF8, etw.OutXML, etw.OutJSON},
	etw.InVarInt:               {etw.OutInt64},
	etw.InVarUint:              {etw.OutUInt64, etw.OutHexInt64, etw.OutCodePointer},
	etw.InCountedBinary:        {etw.OutHexBinary, etw.OutIPv6, etw.OutSocketAddress, etw.OutPKCS7},
}

// OutTypes returns the ways to render a field of type t, the default first.
func OutTypes(t etw.InType) []etw.OutType { return slices.Clone(outTypes[t]) }

// DefaultOut returns how a field of type t is rendered if its declaration does
// not say.
func DefaultOut(t etw.InType) etw.OutType {
	if outs := outTypes[t]; len(outs) > 0 {
		return outs[0]
	}
	return etw.OutDefault
}

// isString reports whether t is one of the two types of text that end at a NUL
// or have a length.
func isString(t etw.InType) bool { return t == etw.InUnicodeString || t == etw.InAnsiString }

// isCounted reports whether a value of type t says how long it is, in a uint16
// before it.
func isCounted(t etw.InType) bool {
	return t == etw.InCountedUnicodeString || t == etw.InCountedAnsiString || t == etw.InCountedBinary
}

// CanCount reports whether a field of type t can give the count or the length
// of another one. Windows takes unsigned integers of at most 32 bits.
func CanCount(t etw.InType) bool {
	switch t {
	case etw.InUInt8, etw.InUInt16, etw.InUInt32, etw.InHexInt32:
		return true
	}
	return false
}

// inTypeNames leads from the name of a type, as a manifest writes it, to the
// type.
var inTypeNames = func() map[string]etw.InType {
	m := make(map[string]etw.InType)
	for t := range outTypes {
		if extensionTypes[t.String()] == etw.InNull {
			m[t.String()] = t
		}
	}
	return m
}()

// standIns are the inTypes of fields of such types, for programs that know only the schema
// of Windows.
var standIns = map[etw.InType]etw.InType{
	etw.InWBEMSID: etw.InSID,
	etw.InBool8:   etw.InBoolean,
	etw.InVarInt:  etw.InInt64,
	etw.InVarUint: etw.InUInt64,
}

// extensionTypes are the types that the schema of Windows has no name for.
var extensionTypes = map[string]etw.InType{
	etw.InWBEMSID.String(): etw.InWBEMSID,
	etw.InBool8.String():   etw.InBool8,
	etw.InVarInt.String():  etw.InVarInt,
	etw.InVarUint.String(): etw.InVarUint,
}
