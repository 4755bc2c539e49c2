package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// rawAnswer returns the answer of a server to bytes that need not be a request.
func rawAnswer(t *testing.T, host, request string) (status int, body string) {
	t.Helper()
	c, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(2 * time.Minute))
	io.WriteString(c, request) // which it may refuse before the end
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, ""
	}
	defer r.Body.Close()
	b, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(b)
}

// TestViewAttacked: requests of other pages, with other methods, without the token, to other paths, and
// with headers, queries and bodies that no browser sends are refused; those who stay silent or do not read
// keep nobody waiting.
func TestViewAttacked(t *testing.T) {
	address := startView(t, "../../tests/recorded/alloc.nettrace")
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	host, token := at.Host, strings.Trim(at.Path, "/")
	ask := func(line, of, more string) string { return line + " HTTP/1.1\r\nHost: " + of + "\r\n" + more + "\r\n" }
	path := "/" + token + "/"
	for name, x := range map[string]struct {
		request string
		want    int
	}{
		"another name":          {ask("GET "+path+"api/", "evil.example", ""), 403},
		"another port":          {ask("GET "+path+"api/", "127.0.0.1:1", ""), 403},
		"no name":               {"GET " + path + "api/ HTTP/1.1\r\n\r\n", 400},
		"another site":          {ask("GET "+path+"api/", host, "Sec-Fetch-Site: cross-site\r\n"), 403},
		"no token":              {ask("GET /api/", host, ""), 404},
		"half a token":          {ask("GET /"+token[:16]+"/api/", host, ""), 404},
		"a longer token":        {ask("GET /"+token+"0/api/", host, ""), 404},
		"POST":                  {ask("POST "+path+"api/", host, "Content-Length: 5\r\n") + "hello", 405},
		"DELETE":                {ask("DELETE "+path+"api/", host, ""), 405},
		"OPTIONS":               {ask("OPTIONS *", host, ""), 404},
		"CONNECT":               {ask("CONNECT x:80", host, ""), 403},
		"another folder":        {ask("GET "+path+"app/../../etc/passwd", host, ""), 404},
		"another folder hidden": {ask("GET "+path+"app/..%2f..%2f..%2fetc%2fpasswd", host, ""), 404},
		"no question":           {ask("GET "+path+"api/record?out=x", host, ""), 404},
		"no flag of a page":     {ask("GET "+path+"api/dump?output=/tmp/x", host, ""), 400},
		"a file by its path":    {ask("GET "+path+"api/gc?file=/etc/passwd", host, ""), 400},
		"a flag in a value":     {ask("GET "+path+"api/gc?from=1ms%20--output%3Dx", host, ""), 400},
		"large header":          {ask("GET "+path+"api/", host, "X: "+strings.Repeat("x", 1<<20)+"\r\n"), 431},
		"long query":            {ask("GET "+path+"api/gc?from="+strings.Repeat("9", 60<<10), host, ""), 400},
		"two lengths":           {ask("GET "+path+"api/", host, "Content-Length: 5\r\nContent-Length: 7\r\n"), 400},
		"no HTTP":               {strings.Repeat("\x16\x03\x01", 100) + "\r\n\r\n", 400},
	} {
		if got, body := rawAnswer(t, host, x.request); got != x.want || strings.Contains(body, "root:") {
			t.Errorf("%s: %d, want %d: %.200s", name, got, x.want, body)
		}
	}
	for range 300 { // silent ones, those within a header, and those that do not read
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, []string{"", "GET /", ask("GET "+path+"api/dump", host, "")}[rand.IntN(3)])
	}
	if status, body, _ := get(t, address+"api/gc"); status != 200 || !json.Valid(body) {
		t.Errorf("beside those: %d %.200s", status, body)
	}
}

// TestViewQueries asks with random flags: each answer is one of the server's own, and is no harm to a
// page.
func TestViewQueries(t *testing.T) {
	address := startView(t, "../../tests/recorded/alloc.nettrace")
	questions := []string{"gc", "dump", "events", "stat", "top", "info", "timeline", "compare", "export", "progress", ""}
	flags := []string{"from", "to", "of", "by", "group", "fold", "limit", "format", "where", "event", "process", "after", "file", "diff", "top", "buckets", "min"}
	values := []string{"", "0", "-1", "1", "99999999999999999999", "1e309", "NaN", "json", "csv", "jsonl", "1ms", "0,0,0", "a=\x00", "\u202e", "(", "[", "((((a*)*)*)*)*", "<script>", "'\"", "%", "12.5_2", "1_1048577", "--help", strings.Repeat("x", 5000)}
	r := rand.New(rand.NewPCG(38, 1))
	for range 300 {
		q := url.Values{}
		for range r.IntN(4) {
			q.Add(flags[r.IntN(len(flags))], values[r.IntN(len(values))])
		}
		at := "api/" + questions[r.IntN(len(questions))] + "?" + q.Encode()
		status, body, header := get(t, address+at)
		var said struct{ Error string }
		switch kind := header.Get("Content-Type"); {
		case status == 200:
		case status < 400 || status == 500 || json.Unmarshal(body, &said) != nil || said.Error == "":
			t.Errorf("%s: %d %.200s", at, status, body)
		case bytes.Contains(body, []byte("panic")):
			t.Errorf("%s: %.200s", at, body)
		case kind != "application/json":
			t.Errorf("%s: an error of type %s", at, kind)
		}
		if s := header.Get("X-Content-Type-Options") + fmt.Sprint(strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'")); s != "nosnifftrue" {
			t.Errorf("%s: %s", at, s)
		}
	}
}
