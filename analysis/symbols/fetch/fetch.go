package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etwgen/etwgen/analysis/symbols"
)

// Limits bound the power of servers. A limit of 0 is that of [Usual].
type Limits struct {
	File, Run int64 // bytes of a file, and of all that a Finder gets

	Answer time.Duration // until an answer begins
	Stall  time.Duration // without a byte
	Whole  time.Duration // for a file
}

// Usual returns the limits that a Finder has where nothing else is said.
func Usual() Limits {
	return Limits{File: 2 << 30, Run: 8 << 30, Answer: time.Minute, Stall: 30 * time.Second, Whole: 20 * time.Minute}
}

// A Finder finds files along a path. Its methods can be called at the same time, but not
// for the same key.
type Finder struct {
	path   Path
	limits Limits
	client *http.Client
	log    func(Event)
	now    func() time.Time
	left   atomic.Int64

	mu     sync.Mutex
	known  map[string]string // paths of files that were looked for, "" if there is none
	failed map[string]int    // of servers, how often in a row
}

// An Event is something that a Finder did, of which people may want to know.
type Event struct {
	Key  Key
	From string // the address of a server, or the path of a file that is of no use
	Size int64  // of the file that was got
	Err  error  // or why there is none
}

// Missing reports whether a server said that it does not have the file.
func (e Event) Missing() bool { return errors.Is(e.Err, errMissing) }

// New returns a Finder, which logs files and faults, unless log is nil. Calls of log come one after
// another.
func New(path Path, limits Limits, log func(Event)) *Finder {
	usual := Usual()
	l := Limits{cmp.Or(limits.File, usual.File), cmp.Or(limits.Run, usual.Run),
		cmp.Or(limits.Answer, usual.Answer), cmp.Or(limits.Stall, usual.Stall), cmp.Or(limits.Whole, usual.Whole)}
	f := &Finder{path: path, limits: l, client: newClient(l), log: log, now: time.Now, known: make(map[string]string), failed: make(map[string]int)}
	f.left.Store(l.Run)
	return f
}

// Files returns the paths of the files that may name a place in native code.
func (f *Finder) Files(ctx context.Context, n *symbols.Native) []string {
	var all []string
	for _, k := range Keys(n) {
		if path := f.Find(ctx, k); path != "" {
			all = append(all, path)
		}
	}
	return all
}

// Find returns the path of a file, or "" if it is nowhere. Errors on the way are events.
func (f *Finder) Find(ctx context.Context, k Key) string {
	f.mu.Lock()
	path, ok := f.known[k.String()]
	f.mu.Unlock()
	if ok {
		return path
	}
	path = f.search(ctx, k)
	f.mu.Lock()
	f.known[k.String()] = path
	f.mu.Unlock()
	return path
}

func (f *Finder) search(ctx context.Context, k Key) string {
	for i := range f.path {
		p := &f.path[i]
		store := ""
		if len(p.Stores) > 0 {
			store = p.Stores[0]
		}
		for _, folder := range p.folders() {
			if path, ok := f.look(k, folder, store); ok {
				return path
			}
		}
		if path := f.fromServer(ctx, p, k, store); path != "" {
			return path
		}
	}
	return ""
}

// folders returns the folders of a place.
func (p *Place) folders() []string {
	if p.Folder == "" {
		return p.Stores
	}
	return append(p.Stores[:len(p.Stores):len(p.Stores)], p.Folder)
}

// patience is how often in a row a server may fail before it is not asked again.
const patience = 3

// fromServer asks a server for a file, unless it said that it does not have it, or fails
// all the time.
func (f *Finder) fromServer(ctx context.Context, p *Place, k Key, store string) string {
	if len(p.Addresses(k)) == 0 || ctx.Err() != nil || f.isMissing(k, store, p.Server) || f.failures(p.Server) >= patience {
		return ""
	}
	var size int64
	path, err := f.keep(k, store, func(temp *os.File) error {
		if err := f.ask(ctx, p, k, temp); err != nil {
			return err
		}
		info, err := temp.Stat()
		if err == nil {
			size = info.Size()
		}
		return err
	})
	if errors.Is(err, errMissing) {
		if err := f.noteMissing(k, store, p.Server); err != nil {
			f.tell(Event{Key: k, From: store, Err: err})
		}
	}
	f.tell(Event{Key: k, From: p.Server, Size: size, Err: err})
	f.judge(p.Server, err)
	return path
}

func (f *Finder) failures(server string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed[server]
}

// judge notes whether a server works.
func (f *Finder) judge(server string, err error) {
	f.mu.Lock()
	if f.failed[server]++; err == nil || errors.Is(err, errMissing) || errors.Is(err, errOther) {
		f.failed[server] = 0
	}
	stopped := f.failed[server] == patience
	f.mu.Unlock()
	if stopped {
		f.tell(Event{From: server, Err: fmt.Errorf("fetch: it failed %d times in a row, and is not asked again", patience)})
	}
}

func (f *Finder) tell(e Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.log != nil {
		f.log(e)
	}
}

// atOnce is how many files Fetch gets at the same time.
const atOnce = 4

// Fetch finds all files of keys, and returns how many it found. A key may be there twice.
func (f *Finder) Fetch(ctx context.Context, keys []Key) int {
	var found atomic.Int64
	var work sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	seen := make(map[string]bool)
	for _, k := range keys {
		if seen[k.String()] {
			continue
		}
		seen[k.String()] = true
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			if f.Find(ctx, k) != "" {
				found.Add(1)
			}
		})
	}
	work.Wait()
	return int(found.Load())
}
