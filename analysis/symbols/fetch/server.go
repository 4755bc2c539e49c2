package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
)

var (
	errMissing = errors.New("fetch: the server does not have it")
	errStalled = errors.New("fetch: the server sent nothing for too long")
	errTooLong = errors.New("fetch: the file took too long")
)

// address returns where a server has a file.
func address(p *Place, k Key) string {
	if p.Debuginfod {
		return p.Server + "/buildid/" + k.buildID + "/" + k.part
	}
	return p.Server + "/" + url.PathEscape(k.Name) + "/" + k.ID + "/" + url.PathEscape(k.Name)
}

// Addresses returns the addresses on a server, in order, to find a file; there are none if
// it does not speak of such files.
func (p *Place) Addresses(k Key) []string {
	switch whole := address(p, k); {
	case p.Server == "", p.Debuginfod && k.buildID == "", p.Source != (k.lines.link != ""):
		return nil
	case p.Source:
		if !isBelow(p.Server, k.lines.link) {
			return nil
		}
		return []string{k.lines.link}
	case p.Debuginfod, k.buildID != "":
		return []string{whole}
	default:
		return []string{whole, packed(whole), whole[:strings.LastIndexByte(whole, '/')] + "/file.ptr"}
	}
}

// isBelow reports whether an address is below that of a server, and leads nowhere else.
func isBelow(server, at string) bool {
	base, err := url.Parse(server)
	u, err2 := url.Parse(at)
	return err == nil && err2 == nil && u.User == nil && u.Scheme == base.Scheme && u.Host == base.Host &&
		path.Clean(u.Path) == u.Path && strings.HasPrefix(u.Path, base.Path+"/")
}

// newClient returns a client that follows few redirects, and none to where the way is not
// safe.
func newClient(l Limits) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = l.Answer
	transport.MaxResponseHeaderBytes = 1 << 16
	return &http.Client{Transport: transport, CheckRedirect: checkRedirect}
}

const maxRedirects = 5

func checkRedirect(next *http.Request, before []*http.Request) error {
	switch first := before[0].URL; {
	case len(before) > maxRedirects:
		return fmt.Errorf("fetch: more than %d redirects", maxRedirects)
	case !isSafe(next.URL):
		return fmt.Errorf("fetch: redirected to %s, which is not https", next.URL.Redacted())
	case isLoopback(next.URL.Hostname()) && !isLoopback(first.Hostname()):
		return fmt.Errorf("fetch: redirected to this machine itself, %s", next.URL.Redacted())
	}
	return nil
}

// ask asks a server for a file and writes it.
func (f *Finder) ask(ctx context.Context, p *Place, k Key, temp *os.File) error {
	addresses := p.Addresses(k)
	for i, at := range addresses {
		var err error
		switch i {
		case 0:
			err = f.get(ctx, k, at, temp, f.limits.File)
		case 1:
			err = f.getPacked(ctx, k, at, temp)
		default:
			err = f.getPointed(ctx, p, k, at, temp)
		}
		if !errors.Is(err, errMissing) {
			return err
		}
	}
	return errMissing
}

// getPacked gets a cabinet and unpacks it.
func (f *Finder) getPacked(ctx context.Context, k Key, at string, temp *os.File) error {
	cabinet, err := os.CreateTemp("", "etw-cabinet-*")
	if err != nil {
		return err
	}
	defer os.Remove(cabinet.Name())
	defer cabinet.Close()
	if err := f.get(ctx, k, at, cabinet, f.limits.File); err != nil {
		return err
	}
	return unpack(temp, cabinet, k.limit(f.limits.File))
}

// maxPointer bounds a file.ptr.
const maxPointer = 4096

// getPointed reads a file.ptr, which says where on the server a file is. Those that name
// other places, such as a share of Windows, are not followed.
func (f *Finder) getPointed(ctx context.Context, p *Place, k Key, at string, temp *os.File) error {
	var text strings.Builder
	if err := f.get(ctx, k, at, &text, maxPointer); err != nil {
		return err
	}
	path, ok := strings.CutPrefix(strings.TrimSpace(text.String()), "PATH:")
	if !ok {
		return errMissing // a message, of why it is not there
	}
	base, err := url.Parse(p.Server + "/")
	if err != nil {
		return err
	}
	target, err := base.Parse(path)
	if err != nil || target.Host != base.Host || target.Scheme != base.Scheme || strings.Contains(path, `\`) || target.User != nil {
		return fmt.Errorf("fetch: file.ptr names %q, which is not on the server", path)
	}
	if strings.HasSuffix(target.Path, "_") {
		return f.getPacked(ctx, k, target.String(), temp)
	}
	return f.get(ctx, k, target.String(), temp, f.limits.File)
}

// get writes the contents of an address, if it is a file: not a page for people, not too
// long, and not too slow.
func (f *Finder) get(ctx context.Context, k Key, at string, w io.Writer, limit int64) error {
	limit = k.limit(limit)
	ctx, cancel := context.WithTimeoutCause(ctx, f.limits.Whole, errTooLong)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "etw (symbols)")
	if k.lines.checksum != "" {
		request.Header.Set("SymbolChecksum", k.lines.checksum)
	}
	answer, err := f.client.Do(request)
	if err != nil {
		return orCause(ctx, err)
	}
	defer answer.Body.Close()
	if err := checkAnswer(answer, limit); err != nil {
		return err
	}
	body := &watched{r: answer.Body, timer: time.AfterFunc(f.limits.Stall, func() { stop(errStalled) }), stall: f.limits.Stall}
	defer body.timer.Stop()
	limit = min(limit, f.left.Load())
	n, err := io.Copy(w, io.LimitReader(body, limit+1))
	left := f.left.Add(-n)
	switch {
	case err != nil:
		return orCause(ctx, err)
	case left < 0:
		return fmt.Errorf("fetch: files of more than %d bytes in all", f.limits.Run)
	case n > limit:
		return fmt.Errorf("fetch: the file has more than %d bytes", limit)
	}
	return nil
}

// orCause returns why a request was given up, if it was. Events have the address already.
func orCause(ctx context.Context, err error) error {
	if at, ok := errors.AsType[*url.Error](err); ok {
		err = at.Err
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// checkAnswer reports the fault in an answer, as far as its head tells.
func checkAnswer(answer *http.Response, limit int64) error {
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusGone:
		return errMissing
	default:
		return fmt.Errorf("fetch: the server says %s", answer.Status)
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if kind == "text/html" || kind == "application/xhtml+xml" {
		return errors.New("fetch: the server sent a page, not a file: it may want a login")
	}
	size := answer.ContentLength
	if unpacked, err := strconv.ParseInt(answer.Header.Get("X-Debuginfod-Size"), 10, 64); err == nil {
		size = max(size, unpacked)
	}
	if size > limit {
		return fmt.Errorf("fetch: the file has %d bytes, more than %d", size, limit)
	}
	return nil
}

// A watched reader gives up when nothing comes for some time.
type watched struct {
	r     io.Reader
	timer *time.Timer
	stall time.Duration
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.r.Read(b)
	if n > 0 {
		w.timer.Reset(w.stall)
	}
	return n, err
}
