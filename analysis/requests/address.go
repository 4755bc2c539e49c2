package requests

import (
	"net/netip"
	"strconv"
	"strings"
)

// An address is where an HTTP request goes to, or other work, as far as the trace tells.
type address struct {
	method, host, path string
	route              string // as the server calls it
	client             bool   // it is of who makes the request
	work               string // that is no HTTP request
}

// addressOf reads the name of a request, such as GET http://shop:80/bread?size=2.
func addressOf(name string) (to address) {
	if method, rest, ok := strings.Cut(name, " "); ok && isMethod(method) {
		to.method, name = method, rest
	}
	if _, rest, ok := strings.Cut(name, "://"); ok {
		host, path, _ := strings.Cut(rest, "/")
		to.host, to.path = host, "/"+path
		return to
	}
	if strings.HasPrefix(name, "/") {
		to.path = name
	}
	return to
}

// isMethod reports whether a text can be the method of a request.
func isMethod(text string) bool {
	return text != "" && len(text) <= 20 && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == ""
}

// endpoint names the place, or returns "" where nothing is known of it.
func (to *address) endpoint() string {
	place := to.route
	if place == "" && to.path != "" {
		place = folded(to.path)
	}
	if place == "" {
		return to.work
	}
	if to.host != "" && to.client {
		place = to.host + "/" + strings.TrimPrefix(place, "/")
	}
	return strings.TrimSpace(to.method + " " + place)
}

// folded returns a path without its query, and with * for its parts that look like ids.
func folded(path string) string {
	path, _, _ = strings.Cut(path, "?")
	path, _, _ = strings.Cut(path, "#")
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if isID(part) {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/")
}

// isID reports whether a part of a path looks like the id of something: a number, a GUID, or
// a long word of hexadecimal or mixed digits.
func isID(part string) bool {
	digits, hex, letters := 0, 0, 0
	for _, c := range part {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case strings.ContainsRune("abcdefABCDEF", c):
			hex++
		case !strings.ContainsRune("-_.:,{}%=", c):
			letters++
		}
	}
	switch {
	case digits == 0:
		return false
	case letters == 0 && hex == 0:
		return true // 42, 2026-11-22, 1,2
	case letters == 0:
		return digits+hex >= 8
	}
	return digits+hex+letters >= 16 && digits >= 4
}

// socketAddress returns the address of a socket as people write it, where a text is one as
// .NET writes it: InterNetwork:16:{0,80,127,0,0,1,...}.
func socketAddress(text string) string {
	family, rest, _ := strings.Cut(text, ":")
	_, list, ok := strings.Cut(rest, ":{")
	if !ok || !strings.HasPrefix(family, "InterNetwork") {
		return text
	}
	var b []byte
	for part := range strings.SplitSeq(strings.TrimSuffix(list, "}"), ",") {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil {
			return text
		}
		b = append(b, byte(n))
	}
	at, size := 2, 4
	if family == "InterNetworkV6" {
		at, size = 6, 16 // after the flow
	}
	if len(b) < at+size {
		return text
	}
	ip, _ := netip.AddrFromSlice(b[at : at+size])
	return netip.AddrPortFrom(ip.Unmap(), uint16(b[0])<<8|uint16(b[1])).String()
}
