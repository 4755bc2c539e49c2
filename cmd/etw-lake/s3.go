package main

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A bucket is a place in a store that has the interface of S3.
type bucket struct {
	at     *url.URL // of the prefix, which ends in a stroke
	region string
	keys   struct{ id, secret, session string }
	client *http.Client
	now    func() time.Time
}

// newBucket returns the place of an s3:// URL. env has the variables that programs for S3 know.
func newBucket(place string, env func(string) string) (*bucket, error) {
	scheme, rest, ok := strings.Cut(place, "://")
	name, prefix, _ := strings.Cut(rest, "/")
	switch {
	case !ok || scheme != "s3":
		return nil, fmt.Errorf("%s: s3://BUCKET/PREFIX is the only form that is known; stores of others have an interface of S3, which AWS_ENDPOINT_URL names", place)
	case name == "" || strings.ContainsAny(rest, "?#"):
		return nil, fmt.Errorf("%s: that names no bucket: s3://BUCKET/PREFIX", place)
	}
	b := &bucket{region: cmp.Or(env("AWS_REGION"), env("AWS_DEFAULT_REGION"), "us-east-1"), client: http.DefaultClient, now: time.Now}
	b.keys.id, b.keys.secret, b.keys.session = env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY"), env("AWS_SESSION_TOKEN")
	if b.keys.id == "" || b.keys.secret == "" {
		return nil, errors.New("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY have to be set")
	}
	endpoint := env("AWS_ENDPOINT_URL")
	if endpoint == "" {
		endpoint = "https://" + name + ".s3." + b.region + ".amazonaws.com"
	} else {
		endpoint = strings.TrimSuffix(endpoint, "/") + "/" + name
	}
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		endpoint += "/" + escape(prefix)
	}
	var err error
	if b.at, err = url.Parse(endpoint + "/"); err != nil || b.at.Host == "" {
		return nil, fmt.Errorf("AWS_ENDPOINT_URL %s: that is no address such as https://s3.example.com", env("AWS_ENDPOINT_URL"))
	}
	return b, nil
}

// escape returns a path as signatures have it: all but letters, digits and -._~ in percent signs.
func escape(path string) string {
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// size returns how large an object is, -1 if there is none.
func (b *bucket) size(ctx context.Context, path string) (int64, error) {
	r, err := b.do(ctx, http.MethodHead, path, nil, 0)
	if err != nil {
		return 0, err
	}
	r.Body.Close()
	switch r.StatusCode {
	case http.StatusOK:
		return r.ContentLength, nil
	case http.StatusNotFound:
		return -1, nil
	}
	return 0, fmt.Errorf("the store says %s", r.Status)
}

// put writes an object.
func (b *bucket) put(ctx context.Context, path string, body io.ReadSeeker, size int64) error {
	r, err := b.do(ctx, http.MethodPut, path, body, size)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(r.Body, 1<<10))
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("the store says %s: %s", r.Status, text)
	}
	return nil
}

// tries is how often a request is sent, if the store fails or does not answer.
const tries = 4

// do sends a request, and again if the store fails.
func (b *bucket) do(ctx context.Context, method, path string, body io.ReadSeeker, size int64) (r *http.Response, err error) {
	for try := range tries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Duration(1<<try) * 100 * time.Millisecond):
			}
		}
		var req *http.Request
		if req, err = b.request(ctx, method, path, body, size); err != nil {
			return nil, err
		}
		if r, err = b.client.Do(req); err != nil {
			continue
		}
		if r.StatusCode < 500 && r.StatusCode != http.StatusTooManyRequests || try == tries-1 {
			return r, nil
		}
		r.Body.Close()
	}
	return nil, err
}

// request makes a signed request.
func (b *bucket) request(ctx context.Context, method, path string, body io.ReadSeeker, size int64) (*http.Request, error) {
	u, err := url.Parse(b.at.String() + escape(path))
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	var content io.Reader
	if body != nil {
		rewind := func() error { _, err := body.Seek(0, io.SeekStart); return err }
		if err := rewind(); err != nil { // it was sent before, and the store failed
			return nil, err
		}
		if _, err := io.Copy(h, body); err != nil {
			return nil, err
		}
		if err := rewind(); err != nil {
			return nil, err
		}
		content = io.NopCloser(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), content)
	if err != nil {
		return nil, err
	}
	req.ContentLength = size
	req.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(h.Sum(nil)))
	if b.keys.session != "" {
		req.Header.Set("X-Amz-Security-Token", b.keys.session)
	}
	b.sign(req)
	return req, nil
}

// sign signs a request by version 4 of the signatures of AWS, with all headers that it has.
func (b *bucket) sign(req *http.Request) {
	now := b.now().UTC()
	req.Header.Set("X-Amz-Date", now.Format("20060102T150405Z"))
	headers := map[string]string{"host": req.URL.Host}
	for name := range req.Header {
		headers[strings.ToLower(name)] = strings.TrimSpace(req.Header.Get(name))
	}
	var names []string
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n%s\n%s\n", req.Method, req.URL.EscapedPath(), req.URL.RawQuery)
	for _, name := range names {
		fmt.Fprintf(&text, "%s:%s\n", name, headers[name])
	}
	signed := strings.Join(names, ";")
	fmt.Fprintf(&text, "\n%s\n%s", signed, req.Header.Get("X-Amz-Content-Sha256"))
	scope := now.Format("20060102") + "/" + b.region + "/s3/aws4_request"
	sum := sha256.Sum256([]byte(text.String()))
	key := []byte("AWS4" + b.keys.secret)
	for _, part := range strings.Split(scope, "/") {
		key = mac(key, part)
	}
	signature := mac(key, "AWS4-HMAC-SHA256\n"+now.Format("20060102T150405Z")+"\n"+scope+"\n"+hex.EncodeToString(sum[:]))
	req.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=%s,Signature=%x", b.keys.id, scope, signed, signature))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
