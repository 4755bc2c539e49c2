package cpu

// Flags are how many samples of a process there are, and how many of them the runtime says are
// in managed code. That of .NET 9 says it of none but those that it met on the way in or out.
type Flags struct{ Inside, All int }

// A runtime tells managed code if it says so of so many of its samples, or there are few.
const (
	enoughFlags = 100
	oneInside   = 100
)

// Tell reports whether the runtime tells managed code from native code that this called.
func (f *Flags) Tell() bool {
	return f == nil || f.All < enoughFlags || f.Inside*oneInside >= f.All
}

// Note counts a sample of a process.
func Note(of map[int64]*Flags, pid int64, outside bool) {
	f := of[pid]
	if f == nil {
		f = new(Flags)
		of[pid] = f
	}
	f.All++
	if !outside {
		f.Inside++
	}
}
