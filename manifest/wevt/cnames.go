package wevt

import (
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/manifest"
)

// reserved has the words of C and C++, and the names that the functions of a header refer
// to: nothing in a manifest can have these names.
var reserved = wordSet(`
	alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class
	co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype
	default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline
	int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
	reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch
	template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile
	wchar_t while xor xor_eq __int64 __inline __declspec selectany
	BOOL BOOLEAN FILETIME GUID NULL NTSTATUS PCSTR PCWSTR REGHANDLE SYSTEMTIME UCHAR ULONG WCHAR TRUE FALSE IN OUT
	ERROR_SUCCESS STATUS_SUCCESS EVENT_DATA_DESCRIPTOR EVENT_DESCRIPTOR ETWGEN_SHARED
	EventDataDescCreate EventEnabled EventRegister EventUnregister EventWrite EventWriteEx EventWriteString EventWriteTransfer
	EtwEventEnabled EtwRegister EtwUnregister EtwWrite EtwWriteEx EtwWriteString EtwWriteTransfer
	strlen wcslen activity data h`)

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// unique returns a name that C can have and that is free, as are those that are made
// of it, and takes them all. Where the wanted one is not free, it is the next one, or
// that with a number behind it.
func (w *headerWriter) unique(madeOf func(name string) []string, wanted, next string) string {
	wanted, next = manifest.Symbol(wanted), manifest.Symbol(next)
	name := wanted
	for !w.free(name, madeOf) {
		w.asked[next]++
		name = next
		if n := w.asked[next]; n > 1 {
			name += "_" + strconv.Itoa(n)
		}
	}
	w.taken[name] = true
	for _, s := range madeOf(name) {
		w.taken[s] = true
	}
	return name
}

func (w *headerWriter) free(name string, madeOf func(name string) []string) bool {
	if reserved[name] || w.taken[name] {
		return false
	}
	return !slices.ContainsFunc(madeOf(name), func(s string) bool { return reserved[s] || w.taken[s] })
}

// ofProvider returns the names that are made of that of a provider.
func ofProvider(name string) []string {
	return []string{name + "Handle", "EventRegister" + name, "EventUnregister" + name}
}

// ofEvent returns the names that are made of that of an event.
func (w *headerWriter) ofEvent(name string) []string {
	return []string{name + "_value", "EventEnabled" + w.call(name), w.opts.Prefix + w.call(name)}
}

// call returns the symbol of an event as it stands in names of functions.
func (w *headerWriter) call(symbol string) string {
	if n := len(w.opts.Strip); n < len(symbol) && strings.EqualFold(symbol[:n], w.opts.Strip) {
		return symbol[n:]
	}
	return symbol
}

// ofConstant returns nothing: no names are made of those of constants.
func ofConstant(string) []string { return nil }
