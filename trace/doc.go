// Package trace opens traces of any kind, and reads several as one. Use it whenever a
// program opens traces that it has not written itself.
//
//	t, err := trace.Open("app.nettrace")
//	if err != nil {
//		return err
//	}
//	defer t.Close()
//	var mux etw.Mux
//	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCStart) error {
//		fmt.Println(r.ProcessID, r.Time(), e.Reason)
//		return nil
//	})
//	err = mux.Run(ctx, t) // what is good comes first, then the error
//
// It tells the format of a file by the first bytes, whatever the name: .etl, .nettrace,
// .netperf, .evtx, perf.data and .gcdump files, as they are, in a .gz or in a .zip archive, which may hold
// several. A pipe does as well as a file, and the path - is the standard input. Several
// traces, of different formats and machines too, are merged by time; [etw.Record] has the
// name of the file that each record is from. [Of] makes a trace of a session of ETW or of Linux that
// runs, and [Read] of one of EventPipe, which is a stream of bytes.
//
// # Damage
//
// A [Trace] delivers everything that can be read. Then, where something could not, its Next
// returns one error that [etw.ErrIncomplete] recognises, and that names file, place and
// cause. [Trace.Stats] counts the losses, and the Facts of a [File] are its own account.
package trace
