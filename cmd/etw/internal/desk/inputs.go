package desk

// Inputs are the flags that whoever asks from outside may set, with the kinds of their
// values. The others are about live processes or the look of results, or name files that
// nobody allowed.
var Inputs = map[string]string{
	"process": "", "children": "", "from": "", "to": "", "activity": "", "during": "", "why": "", "holding": "",
	"by": "", "sort": "", "all": "",
	"of": "", "names": "", "include": "", "exclude": "", "group": "", "fold": "", "fold-percent": "", "root": "", "label": "",
	"min": "", "depth": "", "callers": "", "inverted": "", "diff": "trace", "symbols": "folder",
	"provider": "", "event": "", "id": "", "tid": "", "level": "", "keywords": "", "where": "",
	"sum": "", "avg": "", "max": "", "p50": "", "p90": "", "p95": "", "p99": "", "histogram": "", "every": "",
	"limit": "", "fields": "", "stacks": "",
	"kind": "", "method": "", "phases": "", "images": "", "disks": "", "locks": "", "buckets": "", "lanes": "", "benchmark": "", "per": "", "threshold": "", "fail-if": "",
}
