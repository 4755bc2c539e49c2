package view

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed" // of the archive
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/desk"
	"github.com/etwgen/etwgen/export/html"
	"github.com/etwgen/etwgen/internal/packed"
)

// A server shows traces.
type server struct {
	run       desk.Runner
	files     []file
	token     string   // that addresses begin with
	hosts     []string // that it answers to
	questions []question
	exporting question
	comparing question
	symbols   []string      // flags that say where files of symbols are
	shelf     cli.Shelf     // what was found in the traces
	turn      chan struct{} // has room for one who asks
	passes    chan struct{} // for one who reads the traces, who lets others have the turn
	leaps     chan struct{} // and for one who asks for events
	asked     chan struct{} // has something after a request
	busy      atomic.Int64  // requests that are being answered
	growing   cli.Growing   // of traces that grow
	drawn     atomic.Int64  // when a page will have drawn the last answer that came during a pass, in nanoseconds since 1970

	kept cli.Shelf
	pass pass
}

// A file is a trace.
type file struct {
	path string
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// now returns the files as they are, and whether they grow.
func (s *server) now() (files []file, growing bool) {
	if s.growing.Over == nil {
		return s.files, false
	}
	select {
	case <-s.growing.Over:
	default:
		growing = true
	}
	for _, f := range s.files {
		if info, err := os.Stat(f.path); err == nil {
			f.Size = info.Size()
		}
		files = append(files, f)
	}
	return files, growing
}

// newToken returns a token that nobody can guess.
func newToken() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// policy lets pages load from this server alone, and nothing inline.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
	"base-uri 'self'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// ServeHTTP answers a request: of this machine, by its own name, and with the token.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	rest, ok := s.allowed(w, r)
	if !ok {
		return
	}
	s.busy.Add(1)
	defer func() {
		s.busy.Add(-1)
		select {
		case s.asked <- struct{}{}:
		default:
		}
	}()
	area, name, _ := strings.Cut(rest, "/")
	switch area {
	case "api":
		s.api(w, r, name)
	case "app":
		s.asset(w, r, name)
	default: // the page finds out by its address what to show
		s.asset(w, r, "index.html")
	}
}

// allowed refuses requests that pages of others make, by a name that leads here too, and
// those without the token. It returns the path behind that.
func (s *server) allowed(w http.ResponseWriter, r *http.Request) (string, bool) {
	if site := r.Header.Get("Sec-Fetch-Site"); !slices.Contains(s.hosts, r.Host) || site == "cross-site" {
		http.Error(w, "this server answers to its own address alone", http.StatusForbidden)
		return "", false
	}
	token, rest, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !ok || subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 {
		http.NotFound(w, r)
		return "", false
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "there is nothing to change", http.StatusMethodNotAllowed)
		return "", false
	}
	return rest, true
}

//go:generate go run github.com/etwgen/etwgen/internal/packed/folder assets

//go:embed assets.zip
var archive string

// assets are the parts that this page alone has, packed so that they take less of the program.
var assets = packed.Files(archive)

// asset sends a part of the page, unless the browser has it.
func (s *server) asset(w http.ResponseWriter, r *http.Request, name string) {
	data, err := fs.ReadFile(assets(), name)
	if err != nil {
		data, err = html.Asset(name) // that reports have as well
	}
	if err != nil {
		http.Error(w, "there is no such part of the page", http.StatusNotFound)
		return
	}
	if name == "index.html" {
		data = bytes.ReplaceAll(data, []byte("{{base}}"), []byte("/"+s.token+"/"))
	}
	h, tag := w.Header(), fmt.Sprintf(`"%x"`, sha256.Sum256(data))
	h.Set("Cache-Control", "no-cache") // it asks whether there is another one
	h.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	w.Write(data)
}

// reply sends a document.
func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // rows of events stay as they were printed
	e.Encode(v)
}
