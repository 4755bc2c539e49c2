package cli

// moved names the successors of former commands, or runs the equivalents of other tools'
// commands.
var moved = map[string]string{
	"annotate":    "top --source",
	"blocks":      "info --blocks",
	"classify":    "top --by kind",
	"contention":  "waits --locks",
	"convert":     "export",
	"cpu":         "top",
	"disks":       "files --disks",
	"images":      "processes --images",
	"lifecycle":   "startup --phases",
	"lines":       "top --by line",
	"merge":       "filter A B -o C",
	"providers":   "events --registered",
	"record-help": "keywords --for all",
	"self-test":   "sessions --self-test",
	"stacks":      "top --by stack",
}
