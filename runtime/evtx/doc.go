// Package evtx reads .evtx files, the event logs of Windows, as records with payloads. Use it to
// handle the logs of Windows with the typed events and tools that read traces; package trace
// opens such files, too, and merges them with others by time.
//
//	f, err := os.Open("System.evtx")
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	info, err := f.Stat()
//	if err != nil {
//		return err
//	}
//	r, err := evtx.NewReader(f, info.Size())
//	if err != nil {
//		return err
//	}
//	for rec, err := range r.Records() {
//		if err != nil {
//			log.Print(err)
//			break
//		}
//		fmt.Println(rec.Time(), rec.ProviderName, rec.ID, r.Event().Channel)
//	}
//
// A log keeps an event as binary XML: a template, and the values that it is filled with. The
// values of an event of a manifest are the fields that it has in ETW, in their order, and the
// payload of a record is rebuilt of them. Types that are generated from the manifest decode it
// as they decode that of a trace. The Schema of a record is made of the template, and so no
// manifest is needed to read a log.
//
// Fields have no size of their own in a log: a pointer is taken to have 8 bytes, unless a value
// says otherwise. An event whose data are XML without a template, as CAPI2 logs them, has one
// field of text, the XML. A classic source has no GUID; its records have the one that
// [etw.NameGUID] makes of its name.
package evtx
