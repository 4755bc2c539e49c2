// Package tlg reads the events of TraceLogging out of programs and libraries of Windows. Use it
// to know the events of a program before there is a trace of it: it has neither a manifest nor
// a resource with one, but its code refers to metadata that the linker puts into one region.
//
//	f, err := tlg.Read(data)
//	if err != nil {
//		return err
//	}
//	for _, e := range f.Events {
//		fmt.Println(e.Desc.Name, len(e.Desc.Fields), e.Owners)
//	}
//
// The metadata of an event are those that a trace has with it: its name, level, keywords and
// fields, and no id. They do not say which provider writes it. Where there are several, the
// code tells for most: a function that refers to an event and to one provider writes the event
// with that. The others are of one of the providers that [Event.Owners] lists.
package tlg
