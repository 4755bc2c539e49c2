package parquet

import (
	"maps"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/export/parquet/internal/file"
)

// A Resource says whose recording it is, by the names that OpenTelemetry has for that: see
// the keys. Others are labels.
type Resource map[string]string

// The keys that have columns of their own.
const (
	KeyService   = "service.name"
	KeyVersion   = "service.version"
	KeyHost      = "host.name"
	KeyContainer = "container.id"
	KeyPod       = "k8s.pod.name"
)

// HeaderResource returns the keys that the header of a trace has, but those of its format.
func HeaderResource(keys map[string]string) Resource {
	r := maps.Clone(Resource(keys))
	for _, key := range []string{"ProcessId", "HardwareThreadCount", "ExpectedCPUSamplingRate", "SystemPageSize"} {
		delete(r, key)
	}
	return r
}

// resourceColumns are those columns, and their keys.
var resourceColumns = []struct{ column, key string }{
	{"host", KeyHost}, {"service", KeyService}, {"service_version", KeyVersion}, {"container", KeyContainer}, {"pod", KeyPod},
}

// constantNodes returns the columns that have the same value in all rows of a recording.
//
//go:noinline
func constantNodes() []*file.Node {
	nodes := []*file.Node{{Name: "trace", Type: file.Text, Required: true}, {Name: "trace_id", Type: file.Text, Required: true}}
	for _, c := range resourceColumns {
		nodes = append(nodes, &file.Node{Name: c.column, Type: file.Text})
	}
	return append(nodes, &file.Node{Name: "labels", Type: file.Map, Fields: []*file.Node{
		{Name: "key", Type: file.Text, Required: true}, {Name: "value", Type: file.Text},
	}})
}

// constantLeaves is the number of columns that constantNodes are stored in.
var constantLeaves = len(constantNodes()) + 1

// constants are the values of those columns.
type constants struct {
	texts  [][]byte    // of all but labels; nil is null
	labels [][2][]byte // in order of their keys
}

// constantsOf returns the values of a recording.
func constantsOf(trace, id string, r Resource) *constants {
	text := func(s string) []byte { return []byte(strings.ToValidUTF8(s, "\uFFFD")) }
	c := &constants{texts: [][]byte{text(trace), text(id)}}
	rest := maps.Clone(r)
	for _, k := range resourceColumns {
		var v []byte
		if r[k.key] != "" {
			v = text(r[k.key])
		}
		c.texts = append(c.texts, v)
		delete(rest, k.key)
	}
	for _, k := range slices.Sorted(maps.Keys(rest)) {
		c.labels = append(c.labels, [2][]byte{text(k), text(rest[k])})
	}
	return c
}

// fill adds the values of n rows to the columns.
func (c *constants) fill(leaves []*file.Leaf, n int64) {
	for i, v := range c.texts {
		if v == nil {
			leaves[i].RepeatNull(n)
		} else {
			leaves[i].Repeat(v, n)
		}
	}
	keys, values := leaves[len(c.texts)], leaves[len(c.texts)+1]
	if len(c.labels) == 0 {
		keys.RepeatNull(n)
		values.RepeatNull(n)
		return
	}
	for range n {
		for i, l := range c.labels {
			keys.Text(l[0], uint8(min(i, 1)))
			values.Text(l[1], uint8(min(i, 1)))
		}
	}
}
