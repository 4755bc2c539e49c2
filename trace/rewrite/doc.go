// Package rewrite writes traces made of other traces: some of their events, with texts
// redacted, or several as one. Use it to cut a trace down before it is stored or sent.
//
//	t, err := trace.Open("app.nettrace")
//	if err != nil {
//		return err
//	}
//	w, err := rewrite.NewWriter(out, t, rewrite.Options{})
//	if err != nil {
//		return err
//	}
//	keep := rewrite.Keeper{Stacks: true}
//	for r, err := range t.Records() {
//		if err != nil {
//			return err
//		}
//		if chosen(r) {
//			keep.Chose(r)
//		} else if !keep.Needs(r) {
//			continue
//		}
//		if err := w.Write(r); err != nil {
//			return err
//		}
//	}
//	return w.Close()
//
// The three parts stand on their own. A [Keeper] says which records must stay though
// nobody chose them, since the chosen ones cannot be understood without them: schemas,
// processes, threads, images, names of methods and, if asked, call stacks. A [Redactor]
// replaces texts and numbers of fields in place, and all else can be read as before. A
// [Writer] writes records in the format of their trace, byte by byte as they were: header,
// payload, call stack. It merges traces, and writes events that two of them have once.
package rewrite
