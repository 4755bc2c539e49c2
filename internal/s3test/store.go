// Package s3test has an object store with the interface of S3, for tests.
package s3test

import (
	"encoding/xml"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Store keeps objects in memory, and serves those whose keys have the id it asks for.
type Store struct {
	ID string // of the access key
	// FailEvery makes each request of that number fail, as stores do now and then: 0 means none.
	FailEvery int

	mu       sync.Mutex
	objects  map[string]string // by /BUCKET/KEY
	order    []string          // of the writes
	requests int
}

// Objects returns a copy of what is there, by /BUCKET/KEY, and the paths in the order of writes.
func (s *Store) Objects() (map[string]string, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.objects), slices.Clone(s.order)
}

func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if s.FailEvery > 0 && s.requests%s.FailEvery == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="+s.ID+"/") {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	switch path := r.URL.Path; {
	case r.Method == http.MethodPut:
		b, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if s.objects == nil {
			s.objects = make(map[string]string)
		}
		s.objects[path] = string(b)
		s.order = append(s.order, path)
	case r.URL.Query().Has("list-type"):
		s.list(w, path, r.URL.Query().Get("prefix"), r.URL.Query().Get("continuation-token"))
	default: // GET and HEAD
		text, ok := s.objects[path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("ETag", tag(text))
		http.ServeContent(w, r, "", time.Unix(1, 0), strings.NewReader(text))
	}
}

// tag stands for the content of an object. Clients compare that of a list with that of a read.
func tag(text string) string {
	return `"` + strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(text))), 16) + `"`
}

// page is how many objects a list has at a time.
const page = 7

// list answers with the objects of a bucket whose keys have a prefix, from that after a token on.
func (s *Store) list(w http.ResponseWriter, bucket, prefix, after string) {
	type object struct {
		Key, LastModified, ETag string
		Size                    int
	}
	var l struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		Contents              []object
	}
	for _, path := range slices.Sorted(maps.Keys(s.objects)) {
		key, ok := strings.CutPrefix(path, strings.TrimSuffix(bucket, "/")+"/")
		if !ok || !strings.HasPrefix(key, prefix) || key <= after {
			continue
		}
		if len(l.Contents) == page {
			l.IsTruncated, l.NextContinuationToken = true, l.Contents[page-1].Key
			break
		}
		l.Contents = append(l.Contents, object{key, "2026-11-20T00:00:00.000Z", tag(s.objects[path]), len(s.objects[path])})
	}
	_ = xml.NewEncoder(w).Encode(l)
}
