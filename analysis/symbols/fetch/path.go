package fetch

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// A Path says where files of symbols may be, in order.
type Path []Place

// A Place is a folder, or a server with the stores in front of it.
type Place struct {
	Stores []string // folders in the layout of a store; the first one is filled
	Folder string   // any folder, if there is no server
	Server string   // an address, or ""
	// Debuginfod says that the server speaks the protocol of debuginfod.
	Debuginfod bool
	// Source says that it is a server of source code: addresses below its own, which PDBs
	// tell, may be asked for.
	Source bool
}

// Local returns the folders of a path, and no server.
func (p Path) Local() Path {
	local := slices.Clone(p)
	for i := range local {
		local[i].Server = ""
	}
	return local
}

// HasServer reports whether a path has a server of symbols.
func (p Path) HasServer() bool {
	return slices.ContainsFunc(p, func(p Place) bool { return p.Server != "" && !p.Source })
}

// maxPlaces bounds the places of a path.
const maxPlaces = 256

// ParsePath reads a path in the words of _NT_SYMBOL_PATH, its entries separated by ;
//
//	FOLDER                     a folder or a store
//	https://HOST/PATH          a symbol server
//	srv*STORE*https://HOST     a symbol server, whose files are kept in a store
//	symsrv*DLL*STORE*https://… the same, in an older form
//	cache*STORE                a store for all entries that follow
//	debuginfod*URL URL         servers of debuginfod, as in DEBUGINFOD_URLS
//	source*STORE*https://HOST  a server of source code, to which PDBs may lead
//
// In srv an empty store is the one that is given as usual, which also holds for servers
// without a store.
func ParsePath(text, usual string) (Path, error) {
	var p Path
	var caches []string
	for entry := range strings.SplitSeq(text, ";") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		words := strings.Split(entry, "*")
		var places []Place
		var err error
		switch kind := strings.ToLower(words[0]); {
		case kind == "cache":
			for _, store := range words[1:] {
				caches = append(caches, orUsual(store, usual))
			}
			continue
		case kind == "srv":
			places, err = parseServer(words[1:], caches, usual)
		case kind == "symsrv" && len(words) > 2:
			places, err = parseServer(words[2:], caches, usual)
		case kind == "debuginfod" && len(words) == 2:
			places, err = parseDebuginfod(words[1], caches, usual)
		case kind == "source":
			places, err = parseServer(words[1:], caches, usual)
			if err == nil && places[0].Server == "" {
				err = fmt.Errorf("fetch: %q: no address of a server", entry)
			} else if err == nil {
				places[0].Source = true
			}
		case len(words) > 1:
			err = fmt.Errorf("fetch: %q: an entry begins with srv*, symsrv*, cache*, debuginfod* or source*, or is a folder", entry)
		case strings.Contains(entry, "://"):
			places, err = parseServer(words, caches, usual)
		default:
			places = []Place{{Stores: caches, Folder: entry}}
		}
		if err != nil {
			return nil, err
		}
		for _, place := range places {
			if slices.Contains(place.Stores, "") {
				return nil, fmt.Errorf("fetch: %q needs a store: srv*FOLDER*https://…", entry)
			}
		}
		if p = append(p, places...); len(p) > maxPlaces {
			return nil, fmt.Errorf("fetch: a path has more than %d places", maxPlaces)
		}
	}
	return p, nil
}

func orUsual(store, usual string) string {
	return cmp.Or(store, usual)
}

// parseServer reads stores and, last, a server.
func parseServer(words, caches []string, usual string) ([]Place, error) {
	place := Place{Stores: caches[:len(caches):len(caches)]}
	for i, word := range words {
		if !strings.Contains(word, "://") {
			place.Stores = append(place.Stores, orUsual(word, usual))
			continue
		}
		if i != len(words)-1 {
			return nil, fmt.Errorf("fetch: %q: only the last part of an entry is a server", word)
		}
		if err := checkServer(word); err != nil {
			return nil, err
		}
		place.Server = strings.TrimRight(word, "/")
	}
	if len(place.Stores) == 0 {
		place.Stores = []string{usual}
	}
	return []Place{place}, nil
}

// parseDebuginfod reads servers; words that are no addresses are tags of other clients.
func parseDebuginfod(text string, caches []string, usual string) ([]Place, error) {
	var all []Place
	for word := range strings.FieldsSeq(text) {
		if !strings.Contains(word, "://") {
			continue
		}
		places, err := parseServer([]string{word}, caches, usual)
		if err != nil {
			return nil, err
		}
		places[0].Debuginfod = true
		all = append(all, places...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("fetch: debuginfod*%s: no address of a server", text)
	}
	return all, nil
}

// checkServer reports the fault in the address of a server.
func checkServer(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("fetch: %w", err)
	case u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return fmt.Errorf("fetch: %q: a server is https://HOST/PATH", u.Redacted())
	case !isSafe(u):
		return fmt.Errorf("fetch: %q: servers are asked by https only", text)
	}
	return nil
}

// isSafe reports whether nobody can change the answers of an address on the way.
func isSafe(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname())
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
