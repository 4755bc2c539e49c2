// Package perfdata reads perf.data, the files of perf of Linux, as records. Use it to look at
// recordings of perf record by the types and analyses that read other traces of Linux;
// package trace opens such files, too.
//
//	f, err := os.Open("perf.data")
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	info, err := f.Stat()
//	if err != nil {
//		return err
//	}
//	r, err := perfdata.NewReader(f, info.Size())
//	if err != nil {
//		return err
//	}
//	for rec, err := range r.Records() {
//		if err != nil {
//			log.Print(err)
//			break
//		}
//		fmt.Println(rec.Timestamp, rec.ProcessID, rec.ProviderName, rec.Schema.Name)
//	}
//
// Records are the events that recorders of Linux write into .nettrace files:
//
//   - processes, their ends and what is mapped into them are events of Universal.System;
//   - samples of the first event of perf that is time, such as cycles or cpu-clock, are cpu of
//     Universal.Events, minor and major faults are soft_page_fault and hard_page_fault, and
//     switches of threads cswitch, each with its call stack;
//   - tracepoints of the kernel have the kernel's own fields, and the group as provider; those
//     of programs that write EventHeader are events of these programs: see package eventheader;
//   - samples of all other events are events of a provider perf, by the name that perf gives
//     them, with the count that each stands for.
//
// Files of both byte orders, the output of perf into a pipe, and files that -z has compressed
// are read, these up to a window of 8 MB, which perf takes up to level 19. Payloads and stacks
// are little-endian in all of them. A copy of the stack that --call-graph dwarf has taken is
// unwound by files that [WithCode] hands in. Without them such a sample has the frames of the
// kernel and the innermost one of the program.
package perfdata
