package rundown

import "github.com/etwgen/etwgen/runtime/etw"

const levelVerbose = 5

// EnableEnd selects a rundown at the end of a profile, with the events needed to name the
// code that is there then: keywords 0x138, level Verbose. It is the default that Microsoft's
// pages recommend. (The 0xB8 in one of them is a slip: it lacks EndRundown, so that no
// rundown happens.)
func EnableEnd() etw.Enable {
	return AtEnd(symbols())
}

// EnableStart selects the same rundown when the session begins: keywords 0x78, level
// Verbose. The rundown then disturbs the measured program.
func EnableStart() etw.Enable {
	return AtStart(symbols())
}

// symbols selects the code of a process, and no rundown yet.
func symbols() etw.Enable {
	return (KeywordLoaderRundown | KeywordJitRundown | KeywordNGenRundown).Enable(levelVerbose)
}

// AtEnd returns e with the keyword that causes an end rundown (DCEnd events), and
// with level Verbose, below which most methods come without their names. Without
// that keyword or the one of AtStart nothing is logged but
// RuntimeInformationDCStart.
func AtEnd(e etw.Enable) etw.Enable {
	e.Keywords |= uint64(KeywordEndRundown)
	e.Level = levelVerbose
	return e
}

// AtStart returns e with the keyword that causes a start rundown (DCStart
// events), and with level Verbose, as AtEnd does.
func AtStart(e etw.Enable) etw.Enable {
	e.Keywords |= uint64(KeywordStartRundown)
	e.Level = levelVerbose
	return e
}
