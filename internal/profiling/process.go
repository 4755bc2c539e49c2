package profiling

import (
	"cmp"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/runtime/eventpipe/attach"
)

// Of returns the profile of a process that is attached to.
func Of(p *attach.Process) *Process {
	pid, seen := pid(p)
	return &Process{Client: p.Client, Name: p.Executable, PID: pid, Own: p.Info.PID, Unseen: !seen, Version: Version(p.Runtime)}
}

// Version returns the first number of the version of a runtime, or 3 if it says none.
func Version(text string) int {
	first, _, _ := strings.Cut(text, ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		return 3
	}
	return n
}

// pid returns the number of a process: as we see it, or else as it does.
func pid(p *attach.Process) (n int64, seen bool) {
	n = int64(p.PID)
	if n == 0 && p.Client != nil {
		n = int64(p.Client.PID())
	}
	return cmp.Or(n, p.Info.PID), n != 0
}

// Resource returns the source of the telemetry of a process.
func Resource(p *attach.Process) []otlp.Attribute {
	instance := p.Instance
	if instance == "" && !p.Cookie.IsZero() {
		instance = p.Cookie.String() // which the runtime makes up for each process
	}
	service := p.Service
	if service == "" {
		service = strings.TrimSuffix("unknown_service:"+p.Executable, ":")
	}
	started := ""
	if !p.Start.IsZero() {
		started = p.Start.UTC().Format(time.RFC3339Nano)
	}
	host, _ := os.Hostname()
	pid, _ := pid(p)
	list := []otlp.Attribute{{Key: "process.runtime.name", Value: ".NET"}, {Key: "process.pid", Value: pid}}
	for _, a := range []otlp.Attribute{
		{Key: "process.creation.time", Value: started}, {Key: "container.id", Value: p.Container}, {Key: "host.name", Value: host},
		{Key: "process.executable.name", Value: p.Executable}, {Key: "process.runtime.version", Value: p.Runtime},
		{Key: "os.type", Value: strings.ToLower(p.OS)}, {Key: "host.arch", Value: arch(p.Arch)},
		{Key: "service.name", Value: service}, {Key: "service.instance.id", Value: instance},
	} {
		if a.Value != "" {
			list = append(list, a)
		}
	}
	return list
}

// arch returns the architecture as the conventions call it.
func arch(text string) string {
	switch text {
	case "x64":
		return "amd64"
	case "":
		return runtime.GOARCH
	case "arm":
		return "arm32"
	}
	return text
}
