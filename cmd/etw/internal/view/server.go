package view

import (
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/desk"
)

// A server shows traces.
type server struct {
	run       desk.Runner
	files     []file
	token     string // that addresses begin with
	host      string // that it listens at
	questions []question
	shelf     cli.Shelf     // what was found in the traces
	turn      chan struct{} // has room for one who asks
	asked     chan struct{} // has something after a request

	mu      sync.Mutex
	kept    []answer // the one that was used last at the end
	keeping int      // bytes of all of them
}

// A file is a trace.
type file struct {
	path string
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// newToken returns what nobody can guess.
func newToken() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// policy is what pages may load: of this server alone, and nothing that stands in the page.
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
	select {
	case s.asked <- struct{}{}:
	default:
	}
	area, name, _ := strings.Cut(rest, "/")
	switch area {
	case "api":
		s.api(w, r, name)
	case "app":
		s.asset(w, name)
	default: // the page finds out by its address what to show
		s.asset(w, "index.html")
	}
}

// allowed refuses requests that pages of others make, by a name that leads here too, and
// those without the token. It returns the path behind that.
func (s *server) allowed(w http.ResponseWriter, r *http.Request) (string, bool) {
	local := r.Host == s.host || r.Host == "localhost:"+s.port()
	if site := r.Header.Get("Sec-Fetch-Site"); !local || site == "cross-site" {
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

// port returns the port that it listens at.
func (s *server) port() string { return s.host[strings.LastIndexByte(s.host, ':')+1:] }

//go:embed assets
var assets embed.FS

// asset sends a part of the page.
func (s *server) asset(w http.ResponseWriter, name string) {
	data, err := fs.ReadFile(assets, "assets/"+name)
	if err != nil {
		http.Error(w, "there is no such part of the page", http.StatusNotFound)
		return
	}
	if name == "index.html" {
		data = []byte(strings.ReplaceAll(string(data), "{{base}}", "/"+s.token+"/"))
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	w.Write(data)
}

// reply sends a document.
func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}
