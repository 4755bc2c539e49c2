package trace

// Unstopped reports whether the session of an .etl file was not stopped, which is no fault of the file.
func (f *File) Unstopped() bool {
	r, ok := f.r.(*etlReader)
	return ok && r.header.End == 0 && f.trouble == nil
}
