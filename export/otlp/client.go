package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A Signal is a kind of telemetry.
type Signal string

// The signals, as the addresses of a collector have them.
const (
	SignalLogs    Signal = "logs"
	SignalMetrics Signal = "metrics"
	SignalTraces  Signal = "traces"
	// SignalProfiles has another form than the others: that of [Profiles.AppendProto].
	SignalProfiles Signal = "profiles"
)

// A Client sends OTLP/JSON to a collector by HTTP. Send waits until the collector has taken
// the body, so that the reader of a trace waits, too, and nothing piles up. Several
// goroutines may use a Client at once.
type Client struct {
	base   url.URL
	header http.Header
	http   *http.Client
	zip    bool

	// MaxElapsed is how long Send tries to send one body; 0 is five minutes.
	MaxElapsed time.Duration
	// Sleep waits for a time, or until the context is done; nil is a real wait.
	Sleep func(context.Context, time.Duration) error
}

// NewClient returns a client for the collector at an address such as
// http://localhost:4318, to which it adds /v1/logs and the like. Header is sent with
// each request, and may be nil. A nil client is one with a limit of 30 s for a request.
func NewClient(endpoint string, header http.Header, client *http.Client) (*Client, error) {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return nil, fmt.Errorf("otlp: %w", err)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, fmt.Errorf("otlp: %q is no address of a collector such as http://localhost:4318", endpoint)
	}
	if client == nil {
		client = &http.Client{Timeout: 30 * time.Second}
	}
	return &Client{base: *u, header: header.Clone(), http: client, zip: true}, nil
}

// Address returns where bodies of a signal go.
func (c *Client) Address(s Signal) string {
	version := "v1"
	if s == SignalProfiles {
		version = "v1development"
	}
	return c.base.JoinPath(version, string(s)).String()
}

// Reach asks once whether anybody answers at the address for a signal, whatever the answer is.
func (c *Client) Reach(ctx context.Context, s Signal) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, c.Address(s), nil)
	if err != nil {
		return err
	}
	for k, v := range c.header {
		req.Header[k] = v
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("otlp: %w", err)
	}
	return resp.Body.Close()
}

// A RejectedError says that a collector took a body, but not all that is in it.
type RejectedError struct {
	Count   int64
	Message string
}

// Error returns how many were rejected, and why.
func (e *RejectedError) Error() string {
	return fmt.Sprintf("otlp: the collector rejected %d of them: %s", e.Count, e.Message)
}

// errTemporary wraps errors that are worth another try.
type errTemporary struct {
	error
	after time.Duration
}

const (
	firstWait  = time.Second
	maxWait    = 30 * time.Second
	maxElapsed = 5 * time.Minute
	maxAnswer  = 64 << 10
)

// Send sends a body. If the collector is not there, or busy, it tries again, later and
// later, or when the collector says, until MaxElapsed is over. The error is a
// [*RejectedError] if some of it was not taken.
func (c *Client) Send(ctx context.Context, s Signal, body []byte) error {
	packed, err := c.pack(body)
	if err != nil {
		return err
	}
	limit := c.MaxElapsed
	if limit <= 0 {
		limit = maxElapsed
	}
	waited := time.Duration(0)
	for wait := firstWait; ; wait = min(2*wait, maxWait) {
		err := c.post(ctx, s, packed)
		var again *errTemporary
		if err == nil || !errors.As(err, &again) || ctx.Err() != nil {
			return err
		}
		pause := max(wait/2+rand.N(wait), again.after)
		if waited += pause; waited > limit {
			return fmt.Errorf("%w; it is given up after %v", again.error, limit)
		}
		if err := c.sleep(ctx, pause); err != nil {
			return err
		}
	}
}

func (c *Client) sleep(ctx context.Context, d time.Duration) error {
	if c.Sleep != nil {
		return c.Sleep(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// pack compresses a body.
func (c *Client) pack(body []byte) ([]byte, error) {
	if !c.zip {
		return body, nil
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	_, err = z.Write(body)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}

// post sends a body once.
func (c *Client) post(ctx context.Context, s Signal, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Address(s), bytes.NewReader(body))
	if err != nil {
		return err
	}
	for k, v := range c.header {
		req.Header[k] = v
	}
	req.Header.Set("Content-Type", "application/json")
	if s == SignalProfiles {
		req.Header.Set("Content-Type", "application/x-protobuf")
	}
	if c.zip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return &errTemporary{fmt.Errorf("otlp: %w", err), 0}
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case resp.StatusCode/100 == 2 && s == SignalProfiles:
		return rejectedProfiles(answer)
	case resp.StatusCode/100 == 2:
		return rejected(answer)
	case err == nil && len(answer) > 0:
		err = fmt.Errorf("otlp: %s: %s: %s", req.URL.Redacted(), resp.Status, message(answer))
	default:
		err = fmt.Errorf("otlp: %s: %s", req.URL.Redacted(), resp.Status)
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &errTemporary{err, retryAfter(resp.Header.Get("Retry-After"))}
	}
	return err
}

// rejected returns how much a collector did not take of a body that it answered with
// success.
func rejected(answer []byte) error {
	var a struct {
		PartialSuccess struct {
			Logs    json.RawMessage `json:"rejectedLogRecords"` // a number, or one as text
			Points  json.RawMessage `json:"rejectedDataPoints"`
			Spans   json.RawMessage `json:"rejectedSpans"`
			Message string          `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(answer, &a) != nil {
		return nil // an answer need not have a body
	}
	for _, n := range []json.RawMessage{a.PartialSuccess.Logs, a.PartialSuccess.Points, a.PartialSuccess.Spans} {
		if count, err := strconv.ParseInt(strings.Trim(string(n), `"`), 10, 64); err == nil && count > 0 {
			return &RejectedError{count, a.PartialSuccess.Message}
		}
	}
	return nil
}

// rejectedProfiles is rejected for an answer in protobuf: a message with the number and why.
func rejectedProfiles(answer []byte) error {
	const partialSuccess = 1<<3 | 2
	if len(answer) < 2 || answer[0] != partialSuccess {
		return nil
	}
	length, at := binary.Uvarint(answer[1:])
	if at <= 0 || length != uint64(len(answer)-1-at) {
		return nil // nothing was, or it says more than one of these has to say
	}
	b := answer[1+at:]
	e := &RejectedError{}
	for len(b) > 0 {
		tag := b[0]
		n, size := binary.Uvarint(b[1:])
		if size <= 0 {
			return nil
		}
		b = b[1+size:]
		switch {
		case tag == 1<<3:
			e.Count = int64(n)
		case tag == 2<<3|2 && n <= uint64(len(b)):
			e.Message, b = string(b[:n]), b[n:]
		default:
			return nil
		}
	}
	if e.Count <= 0 {
		return nil
	}
	return e
}

// message returns the text of an answer.
func message(answer []byte) string {
	var status struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(answer, &status) == nil && status.Message != "" {
		return status.Message
	}
	text := strings.Join(strings.Fields(string(answer)), " ")
	return text[:min(len(text), 200)]
}

// retryAfter returns how long a collector asks to wait: seconds, or a time.
func retryAfter(text string) time.Duration {
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return time.Duration(min(n, 600)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(time.Until(at), 0), 10*time.Minute)
	}
	return 0
}
