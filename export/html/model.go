package html

import (
	"strings"

	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/findings"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/handles"
	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/loader"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/runtimes"
	"github.com/etwgen/etwgen/analysis/threadpool"
	"github.com/etwgen/etwgen/analysis/timeline"
	"github.com/etwgen/etwgen/analysis/waits"
)

// A model is the data of a report's scripts.
type model struct {
	Title    string      `json:"title"`
	Head     string      `json:"head,omitempty"`
	Facts    [][2]string `json:"facts"`
	Warnings []string    `json:"warnings"`
	Views    []*view     `json:"views"`
	Overview *table      `json:"overview,omitempty"` // of the views, if there are several
	Missing  []advice    `json:"missing"`
	Texts    *texts      `json:"texts"`
}

// A view is all that there is of one runtime.
type view struct {
	Label    string      `json:"label"`
	Machine  bool        `json:"machine,omitempty"` // it is of all processes
	Facts    [][2]string `json:"facts"`
	Tiles    []tile      `json:"tiles"`
	Findings []finding   `json:"findings"`
	Sections []*section  `json:"sections"`
	weight   int
	subject  *subject
	found    []findings.Finding
}

// A tile is one number that the page begins with.
type tile struct {
	Label   string `json:"label"`
	Value   string `json:"value"`
	Note    string `json:"note,omitempty"`
	Section string `json:"section"`
}

// A finding is a sentence on something remarkable.
type finding struct {
	Level   findings.Severity `json:"level"`
	Text    string            `json:"text"`
	Section string            `json:"section,omitempty"`
}

// add adds findings, whose parts are sections of the page, and returns them as it has them.
func (v *view) add(list []findings.Finding) []findings.Finding {
	for i := range list {
		f := &list[i]
		f.Text = clean(f.Text)
		for _, x := range f.Figures {
			if x.Unit != findings.Count { // a number of things may be in two lines
				f.Text = strings.ReplaceAll(f.Text, x.String(), joined(x.String()))
			}
		}
	}
	v.found = append(v.found, list...)
	return list
}

// A section is an area, such as collections.
type section struct {
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Lead   []string `json:"lead,omitempty"`
	Tracks *tracks  `json:"tracks,omitempty"`
	Charts []*chart `json:"charts,omitempty"`
	Flame  *tree    `json:"flame,omitempty"`
	Tables []*table `json:"tables,omitempty"`
}

// A key tells runtimes apart.
type key struct {
	pid  int64
	clr  uint16
	life int
	// machine says that the machine tells the processes apart that had the id, as it does for those
	// that have no runtime.
	machine bool
}

// A subject is the results of all analyses for one runtime. Empty ones are nil.
type subject struct {
	key
	process    Process
	several    bool // its process has several runtimes
	info       *runtimes.Runtime
	gc         *gc.Runtime
	alloc      *alloc.Runtime
	jit        *jit.Runtime
	exceptions *exceptions.Runtime
	contention *contention.Runtime
	waits      *waits.Runtime
	threadpool *threadpool.Runtime
	loader     *loader.Runtime
	handles    *handles.Runtime
	heap       []*heap.Snapshot
	requests   *requests.Process
	counters   *counters.Process
	profiles   []*Flame
	most       int // samples of a process
	timeline   *timeline.Result
	lanes      []*timeline.Lane
}

// subjects sorts results by runtime.
type subjects struct {
	list  []*subject
	byKey map[key]*subject
}

//go:noinline
func (s *subjects) of(pid int64, clr uint16, life int) *subject {
	return s.at(key{pid: pid, clr: clr, life: life})
}

func (s *subjects) at(k key) *subject {
	if x := s.byKey[k]; x != nil {
		return x
	}
	x := &subject{key: k}
	s.byKey[k] = x
	s.list = append(s.list, x)
	return x
}

// ofMachine returns the subject of a process as the machine tells it: of its own, if several had
// the id.
func (s *subjects) ofMachine(pid int64, life int, several bool, name string) *subject {
	if !several {
		return s.ofProcess(pid, life)
	}
	x := s.at(key{pid: pid, life: life, machine: true})
	x.process.Name = name
	return x
}

// ofProcess returns the first runtime of a process.
func (s *subjects) ofProcess(pid int64, life int) *subject {
	for _, x := range s.list {
		if x.pid == pid && x.life == life {
			return x
		}
	}
	return s.of(pid, 0, life)
}
