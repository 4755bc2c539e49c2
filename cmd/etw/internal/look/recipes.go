package look

import (
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/runtime/etw"
)

// recorders write the settings by which tools enable a provider.
var recorders = map[string]func(p *etw.ProviderDesc, mask uint64, level etw.Level) string{
	"dotnet-trace": func(p *etw.ProviderDesc, mask uint64, level etw.Level) string {
		return fmt.Sprintf("%s:0x%x:%d", p.Name, mask, level)
	},
	"env": func(p *etw.ProviderDesc, mask uint64, level etw.Level) string {
		return fmt.Sprintf("%s:%x:%d", p.Name, mask, level)
	},
	"logman": func(p *etw.ProviderDesc, mask uint64, level etw.Level) string {
		return fmt.Sprintf(`-p "{%s}" 0x%x %d`, p.GUID, mask, level)
	},
	"perfview": func(p *etw.ProviderDesc, mask uint64, level etw.Level) string {
		return "/OnlyProviders:" + need.PerfView(p, mask, level)
	},
	"wpr": func(p *etw.ProviderDesc, mask uint64, level etw.Level) string {
		return fmt.Sprintf(`<EventProvider Id="%s" Name="%s" Level="%d"><Keywords><Keyword Value="0x%x"/></Keywords></EventProvider>`,
			strings.ReplaceAll(p.Name, " ", "-"), p.GUID, level, mask)
	},
	"xperf": func(p *etw.ProviderDesc, mask uint64, level etw.Level) string {
		return fmt.Sprintf("-on %s:0x%x:0x%x", p.GUID, mask, uint8(level))
	},
}

// recorderNames are the tools that take keywords.
var recorderNames = []string{"dotnet-trace", "env", "logman", "perfview", "wpr", "xperf"}

// recipes say how to record with each tool, in five lines.
var recipes = map[string]string{
	"etw": `A .NET program on any system, with etw collect, which needs nothing else:
  etw ps
  etw collect -p PID --duration 30s -o app.nettrace
  etw collect -p PID --profile common,cpu,requests --duration 30s -o requests.nettrace
  etw collect --profile exceptions -- dotnet app.dll
`,
	"dotnet-trace": `A .NET program on any system, with dotnet-trace:
  dotnet tool install --global dotnet-trace
  dotnet-trace ps
  dotnet-trace collect -p PID --providers Microsoft-Windows-DotNETRuntime:0x1:4 -o app.nettrace
  dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x8000:4 -- dotnet app.dll
`,
	"env": `A .NET program, without any tool, by its environment:
  export DOTNET_EnableEventPipe=1
  export DOTNET_EventPipeConfig=Microsoft-Windows-DotNETRuntime:1:4
  export DOTNET_EventPipeOutputPath=/tmp/app_{pid}.nettrace
  dotnet app.dll
`,
	"logman": `All processes on Windows, with logman, as administrator:
  logman start gc -p "{e13c0d23-ccbc-4e12-931b-d9cc2eee27e4}" 0x1 4 -ct perf -nb 64 256 -bs 1024 -o gc.etl -ets
  logman stop gc -ets
  logman start rundown -p "{a669021c-c450-4609-a035-5af59af4df18}" 0x138 5 -ct perf -bs 1024 -o rundown.etl -ets
  logman stop rundown -ets
`,
	"wpr": `CPU, disk and .NET on Windows 10 and later, with wpr, as administrator:
  wpr -profiles
  wpr -start CPU -start DotNET -filemode
  wpr -stop trace.etl
  etw info trace.etl
`,
	"perfview": `CPU samples and .NET events on Windows, with PerfView, as administrator:
  PerfView /NoGui /AcceptEULA /MaxCollectSec:30 /Zip:true collect cpu
  PerfView /NoGui /AcceptEULA /MaxCollectSec:30 /Zip:true /GCCollectOnly collect gc
  PerfView /NoGui /AcceptEULA /MaxCollectSec:30 /Zip:true /ThreadTime collect waits
  etw info gc.etl.zip
`,
	"xperf": `.NET and the names of its code on Windows, with xperf, as administrator; wait 30 to
60 seconds before the first stop:
  xperf -start clr -on e13c0d23-ccbc-4e12-931b-d9cc2eee27e4:0x1ccbd:0x5 -f clr1.etl
  xperf -start clrRundown -on a669021c-c450-4609-a035-5af59af4df18:0x138:0x5 -f clr2.etl
  xperf -stop clrRundown
  xperf -stop clr
  xperf -merge clr1.etl clr2.etl merged.etl
`,
}

// allRecipes stands for all tools of which there is a recipe.
const allRecipes = "all"

// recipeNames are these tools: this one is there already.
var recipeNames = append([]string{"etw"}, recorderNames...)

// recipe returns how to record with a tool, or with each.
func recipe(tool string) (string, error) {
	names := []string{tool}
	switch {
	case tool == allRecipes:
		names = recipeNames
	case !slices.Contains(recipeNames, tool):
		return "", cli.Usagef("--for %s: it is one of %s%s", tool, strings.Join(append(recipeNames, allRecipes), ", "), cli.DidYouMean(tool, recipeNames))
	}
	texts := each.Of(names, func(name string) string { return recipes[name] })
	return strings.Join(texts, "\n"), nil
}
