package fetch

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/symbols"
)

// A bench is a server, its requests, and a store.
type bench struct {
	t      *testing.T
	server *httptest.Server
	store  string
	limits Limits
	now    time.Time

	mu     sync.Mutex
	asked  []string
	events []Event
}

// serve starts a server. It has nothing but the answers of serve.
func serve(t *testing.T, serve func(w http.ResponseWriter, r *http.Request)) *bench {
	b := &bench{t: t, store: t.TempDir(), now: time.Now()}
	b.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		b.asked = append(b.asked, strings.TrimPrefix(r.URL.Path, "/"))
		b.mu.Unlock()
		serve(w, r)
	}))
	t.Cleanup(b.server.Close)
	return b
}

// files serves files by their paths.
func files(all map[string][]byte) func(w http.ResponseWriter, r *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		body, ok := all[r.URL.Path[1:]]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(body) // a client that has enough closes
	}
}

// finder returns a new Finder, which asks the server.
func (b *bench) finder(prefix string) *Finder {
	p, err := ParsePath(prefix+b.server.URL, b.store)
	if err != nil {
		b.t.Fatal(err)
	}
	f := New(p, b.limits, func(e Event) { b.events = append(b.events, e) })
	f.now = func() time.Time { return b.now }
	return f
}

// find looks for the PDB of the test.
func (b *bench) find() string {
	b.asked, b.events = nil, nil
	return b.finder("").Find(b.t.Context(), Keys(&testCode)[0])
}

// refused fails if the store has a file, or if no event says why it has none.
func (b *bench) refused(part string) {
	b.t.Helper()
	if path := b.find(); path != "" {
		b.t.Errorf("found %s", path)
	}
	if len(b.events) == 0 || b.events[0].Err == nil || !strings.Contains(b.events[0].Err.Error(), part) {
		b.t.Errorf("events %v, without %q", b.events, part)
	}
	if all := stored(b.t, b.store); len(all) != 0 {
		b.t.Errorf("the store has %q", all)
	}
}

// stored returns the files of a folder.
func stored(t *testing.T, folder string) []string {
	var all []string
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(folder, path)
			all = append(all, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFind(t *testing.T) {
	pdb := makePDB(testGUID)
	folder := strings.TrimSuffix(testKey, "oven.pdb")
	for name, all := range map[string]map[string][]byte{
		"plain":           {testKey: pdb},
		"cabinet":         {folder + "oven.pd_": makeCabinet(t, pdb)},
		"pointer":         {folder + "file.ptr": []byte("PATH:" + "elsewhere/x.pdb\r\n"), "elsewhere/x.pdb": pdb},
		"packed, pointer": {folder + "file.ptr": []byte("PATH:/a/x.pd_"), "a/x.pd_": makeCabinet(t, pdb)},
	} {
		b := serve(t, files(all))
		path := b.find()
		if got, err := os.ReadFile(path); err != nil || string(got) != string(pdb) {
			t.Errorf("%s: %d bytes, %v, %v", name, len(got), err, b.events)
		}
		if got := stored(t, b.store); !slices.Equal(got, []string{testKey}) {
			t.Errorf("%s: the store has %q", name, got)
		}
		if again := b.find(); again != path || len(b.asked) != 0 {
			t.Errorf("%s: again %q, asked for %q", name, again, b.asked)
		}
	}
}

func TestOtherBuild(t *testing.T) {
	guid := testGUID
	guid[15]++
	serve(t, files(map[string][]byte{testKey: makePDB(guid)})).refused("another build")
	serve(t, files(map[string][]byte{testKey: []byte("MZ no file of symbols")})).refused("no whole PDB")
	serve(t, files(map[string][]byte{testKey: makePDB(testGUID)[:600]})).refused("no whole PDB")
	serve(t, files(map[string][]byte{testKey: nil})).refused("no whole PDB")
}

func TestPage(t *testing.T) {
	serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(makePDB(testGUID))
	}).refused("login")
}

func TestPointerElsewhere(t *testing.T) {
	for _, target := range []string{`\\server\share\oven.pdb`, "https://b.example/oven.pdb", "//b.example/oven.pdb", "file:///etc/passwd", "http://127.0.0.1:1/oven.pdb"} {
		folder := strings.TrimSuffix(testKey, "oven.pdb")
		b := serve(t, files(map[string][]byte{folder + "file.ptr": []byte("PATH:" + target)}))
		b.refused("not on the server")
		if len(b.asked) != 3 {
			t.Errorf("asked for %q", b.asked)
		}
	}
}

func TestRedirects(t *testing.T) {
	for hops, want := range map[int]bool{1: true, maxRedirects: true, maxRedirects + 1: false, 1000: false} {
		b := serve(t, func(w http.ResponseWriter, r *http.Request) {
			n, _ := strconv.Atoi(r.URL.Query().Get("n"))
			if n == hops {
				_, _ = w.Write(makePDB(testGUID))
				return
			}
			http.Redirect(w, r, "/x?n="+strconv.Itoa(n+1), http.StatusFound)
		})
		if !want {
			b.refused("redirects")
		} else if b.find() == "" {
			t.Errorf("%d redirects: %v", hops, b.events)
		}
	}
	serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://b.example/oven.pdb", http.StatusFound)
	}).refused("not https")

	request := func(at string) *http.Request {
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		return &http.Request{URL: u}
	}
	from := []*http.Request{request("https://a.example/x")}
	for at, want := range map[string]bool{"https://b.example/x": true, "http://a.example/x": false, "http://127.0.0.1/x": false, "https://localhost/x": false, "file:///x": false} {
		if err := checkRedirect(request(at), from); (err == nil) != want {
			t.Errorf("%s: %v", at, err)
		}
	}
}

func TestMissing(t *testing.T) {
	b := serve(t, files(nil))
	if b.find() != "" || len(b.asked) != 3 || len(b.events) != 1 || !b.events[0].Missing() {
		t.Fatalf("asked for %q, %v", b.asked, b.events)
	}
	if b.now = b.now.Add(keptMissing - time.Minute); b.find() != "" || len(b.asked) != 0 {
		t.Errorf("asked again for %q", b.asked)
	}
	if b.now = b.now.Add(2 * time.Minute); b.find() != "" || len(b.asked) != 3 {
		t.Errorf("a day later asked for %q", b.asked)
	}
}

func TestErrorsAreNotKept(t *testing.T) {
	for _, status := range []int{http.StatusInternalServerError, http.StatusTooManyRequests, http.StatusForbidden, http.StatusBadGateway} {
		broken := true
		b := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if broken {
				w.WriteHeader(status)
				return
			}
			_, _ = w.Write(makePDB(testGUID))
		})
		b.refused(strconv.Itoa(status))
		if len(b.asked) != 1 {
			t.Errorf("%d: asked for %q", status, b.asked)
		}
		if broken = false; b.find() == "" {
			t.Errorf("%d: not asked again", status)
		}
	}
}

func TestSizes(t *testing.T) {
	endless := func(head string) func(w http.ResponseWriter, r *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			if name, value, ok := strings.Cut(head, ":"); ok {
				w.Header().Set(name, value)
			}
			for block := make([]byte, 1<<16); ; {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}
	}
	for _, head := range []string{"", "Content-Length:1000000000", "X-Debuginfod-Size:1000000000"} {
		b := serve(t, endless(head))
		b.limits.File = 1 << 20
		b.refused("more than 1048576")
	}
	b := serve(t, endless(""))
	b.limits.Run = 1 << 20
	b.refused("in all")

	pdb := makePDB(testGUID)
	b = serve(t, files(map[string][]byte{strings.TrimSuffix(testKey, "b") + "_": makeCabinet(t, pdb)}))
	b.limits.File = int64(len(pdb)) - 1
	b.refused("more than")
}

// TestTimes has servers that say nothing, that stop, and that send little by little. Each
// waits until its client has gone.
func TestTimes(t *testing.T) {
	b := serve(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	b.limits.Answer = 20 * time.Millisecond
	b.refused("timeout")

	b = serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(makePDB(testGUID)[:100])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	b.limits.Stall = 20 * time.Millisecond
	b.refused(errStalled.Error())

	b = serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte{0})
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Millisecond)
		}
	})
	b.limits.Whole = 50 * time.Millisecond
	b.refused(errTooLong.Error())

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if b.asked = nil; b.finder("").Find(ctx, Keys(&testCode)[0]) != "" || len(b.asked) != 0 {
		t.Errorf("asked for %q after all", b.asked)
	}
}

// TestPatience has a server that fails each time: it is given up, which is said.
func TestPatience(t *testing.T) {
	b := serve(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	var keys []Key
	for age := range uint32(20) {
		n := testCode
		n.PDB.Age = age
		keys = append(keys, Keys(&n)...)
	}
	f := b.finder("")
	for _, k := range keys {
		f.Find(t.Context(), k)
	}
	if len(b.asked) != patience || len(b.events) != patience+1 || !strings.Contains(b.events[patience].Err.Error(), "in a row") {
		t.Errorf("asked for %q, %v", b.asked, b.events)
	}
}

func TestFetch(t *testing.T) {
	all := make(map[string][]byte)
	var keys []Key
	for i := range 50 {
		n := testCode
		n.PDB.GUID[0] = byte(i)
		k := Keys(&n)[0]
		if keys = append(keys, k, k); i%2 == 0 {
			all[k.String()] = makePDB(n.PDB.GUID)
		}
	}
	b := serve(t, files(all))
	if n := b.finder("").Fetch(t.Context(), keys); n != len(all) {
		t.Errorf("%d files, not %d: %v", n, len(all), b.events)
	}
	if want := len(all) + 3*(50-len(all)); len(b.asked) != want {
		t.Errorf("asked %d times, not %d", len(b.asked), want)
	}
}

func TestDebuginfod(t *testing.T) {
	id, _ := hex.DecodeString("00112233445566778899aabbccddeeff00112233")
	n := symbols.Native{Module: "/usr/bin/oven", BuildID: strings.ToUpper(hex.EncodeToString(id))}
	b := serve(t, files(map[string][]byte{"buildid/" + hex.EncodeToString(id) + "/debuginfo": makeELF(id)}))
	f := b.finder("debuginfod*")
	if all := f.Files(t.Context(), &n); len(all) != 1 {
		t.Errorf("%q, %v", all, b.events)
	}
	if want := []string{"buildid/" + hex.EncodeToString(id) + "/debuginfo", "buildid/" + hex.EncodeToString(id) + "/executable"}; !slices.Equal(b.asked, want) {
		t.Errorf("asked for %q", b.asked)
	}
	id[0]++
	b = serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(makeELF(id)) })
	if all := b.finder("debuginfod*").Files(t.Context(), &n); len(all) != 0 || len(b.events) == 0 || !errors.Is(b.events[0].Err, errOther) {
		t.Errorf("of another build: %q, %v", all, b.events)
	}
	if b.asked = nil; b.finder("debuginfod*").Find(t.Context(), Keys(&testCode)[0]) != "" || len(b.asked) != 0 {
		t.Errorf("asked for a PDB: %q", b.asked)
	}
}
