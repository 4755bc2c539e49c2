// Package ctf reads traces in the Common Trace Format 1.8, as LTTng and perfcollect record them
// on Linux. Use it for the events that .NET writes for LTTng; package trace opens folders and
// archives of such traces, too.
//
//	var files []ctf.File // of a folder: its metadata and its streams
//	r, err := ctf.NewReader(files)
//	if err != nil {
//		return err
//	}
//	for rec, err := range r.Records() {
//		if err != nil {
//			log.Print(err)
//			break
//		}
//		fmt.Println(rec.Time(), rec.ProviderName, rec.ProcessID)
//	}
//
// A trace describes itself: its metadata say how headers, packets and events are laid out.
//
//   - Events of the runtime of .NET become those of its providers, such as
//     Microsoft-Windows-DotNETRuntime, with the payload that ETW and EventPipe have, so that types
//     and analyses take them. LTTng has no call stacks and no activities of them.
//   - All others have the layout of their own as Schema, and are known by name: the part before
//     the colon, or else the domain of LTTng, is the provider. Numbers of odd sizes take the next
//     larger one, bit fields included; text is UTF-8. Behind the fields stand those of the
//     context, such as procname, but for the numbers of process and thread.
//
// Traces of both byte orders are read, with any size of integers and any alignment, and packets
// of all streams are merged by time, in nanoseconds.
package ctf
