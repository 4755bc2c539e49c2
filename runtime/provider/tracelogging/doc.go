// Package tracelogging writes structs of Go as events that describe themselves: for
// programs without a manifest. Use it where events are for whoever looks, and no
// contract.
//
//	var shop = provider.New(&etw.ProviderDesc{Name: "Contoso-Shop"})
//
//	type Sold struct {
//		Article string
//		Price   float64
//		Colors  []string `etw:"colors"`
//		Status  uint32   `etw:",hresult"`
//	}
//
//	var sold = tracelogging.MustDefine[Sold](shop, "Sold", tracelogging.Options{Level: etw.LevelInformational, Keywords: 1})
//
//	sold.Write(ctx, &Sold{Article: "chair", Price: 99.5})
//
// Every tool that knows TraceLogging decodes them: the names and types of the fields are
// in each event. The type is looked at once, by Define; Write allocates nothing.
//
// # Fields
//
// The exported fields of a struct are written, in their order, as
//
//   - integers, floating-point numbers and Booleans, int and uint with 64 bits
//   - strings as UTF-8 that ends at a NUL; []byte as binary data
//   - time.Time and etw.FileTime as FILETIME, to 100 ns; the zero Time is 0
//   - time.Duration as a number of nanoseconds
//   - etw.GUID, etw.Pointer, etw.SID, etw.SystemTime, etw.UTF16 and etw.ANSI as what they are
//   - structs, whose fields are those of the struct around them if they are embedded
//   - slices and arrays of all of these, except of other slices and arrays
//
// A tag with the key etw gives a field another name, or none of its own where the part
// before the comma is empty; "-" leaves the field out. Behind the comma stands how to
// write or show it:
//
//   - hex, of integers
//   - pid, tid, port, ipv4, win32error, ntstatus, hresult, of integers of their size
//   - utf16, of strings, for tools that do not know UTF-8
//   - counted, of strings that may contain a NUL; older tools do not know it
//   - json, xml, of strings
package tracelogging
