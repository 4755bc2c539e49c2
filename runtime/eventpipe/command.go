package eventpipe

// A command is the set, the high byte, and the number of a command.
type command uint16

const (
	generateDump   command = 0x0101
	generateDump2  command = 0x0102
	stopTracing    command = 0x0201
	collectTracing command = 0x0203 // the one of 3.0, 0x0202, cannot do without rundown
	collect3       command = 0x0204
	collect4       command = 0x0205
	collect5       command = 0x0206
	collect6       command = 0x0207
	attachProfiler command = 0x0301
	startProfiler  command = 0x0302
	processInfo    command = 0x0400
	resumeRuntime  command = 0x0401
	environment    command = 0x0402
	setVariable    command = 0x0403
	processInfo2   command = 0x0404
	enablePerfMap  command = 0x0405
	disablePerfMap command = 0x0406
	applyHook      command = 0x0407
	processInfo3   command = 0x0408
)

// commands has the name of each command in the protocol, and since when it exists.
var commands = map[command]struct{ name, since string }{
	generateDump:   {"GenerateCoreDump", ".NET Core 3.1"},
	generateDump2:  {"GenerateCoreDump2", ".NET 6"},
	stopTracing:    {"StopTracing", ".NET Core 3.0"},
	collectTracing: {"CollectTracing2", ".NET Core 3.1"},
	collect3:       {"CollectTracing3", ".NET 8"},
	collect4:       {"CollectTracing4", ".NET 9"},
	collect5:       {"CollectTracing5", ".NET 10"},
	collect6:       {"CollectTracing6", ".NET 11"},
	attachProfiler: {"AttachProfiler", ".NET Core 3.1"},
	startProfiler:  {"StartupProfiler", ".NET 6"},
	processInfo:    {"ProcessInfo", ".NET 5"},
	resumeRuntime:  {"ResumeRuntime", ".NET 5"},
	environment:    {"ProcessEnvironment", ".NET 5"},
	setVariable:    {"SetEnvironmentVariable", ".NET 6"},
	processInfo2:   {"ProcessInfo2", ".NET 6"},
	enablePerfMap:  {"EnablePerfMap", ".NET 8"},
	disablePerfMap: {"DisablePerfMap", ".NET 8"},
	applyHook:      {"ApplyStartupHook", ".NET 8"},
	processInfo3:   {"ProcessInfo3", ".NET 8"},
}

func (c command) String() string { return commands[c].name }
