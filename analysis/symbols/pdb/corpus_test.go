package pdb_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/pdb"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/google/go-cmp/cmp"
)

// open returns the PDB of an assembly: inside of it or beside it.
func open(t *testing.T, assembly string) *pdb.File {
	t.Helper()
	data := testio.Read(t, assembly)
	ref, err := pdb.References(data)
	if err != nil {
		t.Fatal(err)
	}
	f, err := ref.Open()
	if err != nil {
		t.Fatal(err)
	}
	if f == nil {
		beside := testio.Read(t, strings.TrimSuffix(assembly, ".dll")+".pdb")
		if f, err = pdb.Open(beside); err != nil {
			t.Fatal(err)
		}
		if err := ref.Check(f); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// TestLines finds the lines of the samples of a program whose lines are known by another
// way.
func TestLines(t *testing.T) {
	for _, kind := range []string{"separate", "embedded"} {
		t.Run(kind, func(t *testing.T) {
			folder := filepath.Dir(corpus.File(t, "lines", kind, "lines.nettrace"))
			file := open(t, filepath.Join(folder, "lines.dll"))
			var mux etw.Mux
			code, samples := symbols.New(&mux, symbols.ILOffsets()), cpu.New(&mux)
			testtrace.Run(t, &mux, filepath.Join(folder, "lines.nettrace"))
			lines := pdb.NewLines(func(m symbols.Module) *pdb.File {
				if [16]byte(m.PDB.GUID) == file.ID.GUID() {
					return file
				}
				return nil
			})
			p := stacks.NewProfile(code.Table(), stacks.Options{Raw: true, AsSampled: true, Source: lines.Source}, samples.Samples()...)
			leaf, nearest := byLine(p)
			var want struct {
				Exact struct{ Leaf, Nearest map[string]int }
			}
			data, err := os.ReadFile(filepath.Join(folder, "exact.json"))
			if err == nil {
				err = json.Unmarshal(data, &want)
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Exact.Leaf, leaf); diff != "" {
				t.Errorf("innermost frames (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.Exact.Nearest, nearest); diff != "" {
				t.Errorf("innermost frames in the module (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOtherRule finds lines as TraceEvent does, which goes on in the IL between the entries
// of a map and then back by one, and so shows that all that leads to the rule is the same.
func TestOtherRule(t *testing.T) {
	for _, kind := range []string{"separate", "embedded"} {
		folder := filepath.Dir(corpus.File(t, "lines", kind, "lines.nettrace"))
		file := open(t, filepath.Join(folder, "lines.dll"))
		var mux etw.Mux
		code, samples, maps := symbols.New(&mux), cpu.New(&mux), collectMaps(&mux)
		testtrace.Run(t, &mux, filepath.Join(folder, "lines.nettrace"))
		table, list := code.Table(), samples.Samples()[0]
		leaf, nearest := make(map[string]int), make(map[string]int)
		for s := range list.All() {
			if slices.ContainsFunc(s.Labels, func(l stacks.Label) bool { return l.Value == "gc" }) {
				continue
			}
			for i, address := range list.Stack(s.Stack) {
				loc := table.Lookup(s.Process, address, time.Unix(0, s.Time))
				m := loc.Method()
				if m.Module.Name() != "lines" {
					continue
				}
				key := strings.TrimPrefix(m.Full(), "lines!") + " (no line)"
				points, err := file.Points(m.Token)
				if err != nil {
					t.Fatal(err)
				}
				if len(points) > 0 {
					il := maps[methodKey{m.ID, m.ReJITID}].between(int(loc.Offset()))
					key = "Lines.cs:" + strconv.Itoa(pointBefore(points, il).Line)
				}
				if i == 0 {
					leaf[key]++
				}
				nearest[key]++
				break
			}
		}
		var want struct {
			TE struct{ Leaf, Nearest map[string]int }
		}
		data, err := os.ReadFile(filepath.Join(folder, "exact.json"))
		if err == nil {
			err = json.Unmarshal(data, &want)
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.TE.Leaf, leaf) + cmp.Diff(want.TE.Nearest, nearest); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
}

type methodKey struct {
	id    uint64
	rejit uint32
}

// An ilMap has the native and the IL offsets of a method, by the former.
type ilMap [][2]int

func collectMaps(mux *etw.Mux) map[methodKey]ilMap {
	maps := make(map[methodKey]ilMap)
	add := func(key methodKey, il, native etw.Uint32s) {
		var m ilMap
		for i := range il.Len() {
			if at := int32(il.At(i)); at >= 0 {
				m = append(m, [2]int{int(native.At(i)), int(at)})
			}
		}
		slices.SortStableFunc(m, func(a, b [2]int) int { return a[0] - b[0] })
		maps[key] = m
	}
	etw.Handle(mux, func(r *etw.Record, e *clr.AnyMethodILToNativeMap) error {
		add(methodKey{e.MethodID, uint32(e.ReJITID)}, e.ILOffsets, e.NativeOffsets)
		return nil
	})
	etw.Handle(mux, func(r *etw.Record, e *rundown.AnyMethodDCEndILToNativeMap) error {
		add(methodKey{e.MethodID, uint32(e.ReJITID)}, e.ILOffsets, e.NativeOffsets)
		return nil
	})
	return maps
}

// between returns the IL offset of a native one by TraceEvent's rule.
func (m ilMap) between(native int) int {
	i := len(m) - 1
	for i >= 0 && m[i][0] > native {
		i--
	}
	if i < 0 {
		return 0
	}
	il, into := m[i][1], native-m[i][0]
	if i+1 < len(m) && into != 0 {
		wide, step := m[i+1][0]-m[i][0], m[i+1][1]-il
		if step <= 0 {
			return il
		}
		il += int(float64(into)/float64(wide)*float64(step) + 0.5)
	}
	if il > 0 {
		il--
	}
	return il
}

func pointBefore(points []pdb.Point, il int) pdb.Point {
	last := points[0]
	for _, p := range points {
		if p.IL <= il {
			last = p
		}
	}
	if last.Hidden {
		last.Line = 0
	}
	return last
}

// byLine counts the samples of each line: whose innermost frame is on it, and whose
// innermost frame within the module is.
func byLine(p *stacks.Profile) (leaf, nearest map[string]int) {
	leaf, nearest = make(map[string]int), make(map[string]int)
	for s := range p.Samples() {
		first := true
		for i := range p.Stack(s.Stack) {
			f := &p.Frames[i]
			if f.Pseudo { // a pause, in which nothing is sampled
				break
			}
			if filepath.Base(f.Module) == "lines.dll" {
				key := strings.TrimPrefix(f.Full, "lines!") + " (no line)"
				if f.Line > 0 {
					key = filepath.Base(f.File) + ":" + strconv.Itoa(f.Line)
				}
				if first {
					leaf[key]++
				}
				nearest[key]++
				break
			}
			first = false
		}
	}
	return leaf, nearest
}
