package httpmod

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// Request is what a script asks for. Do and Open only read it. Body must be
// memory of Go's own and stay as it is for good: the network may still be reading
// it for a moment after a request failed.
type Request struct {
	Method string // "" is GET; the usual ones may be in lower case
	URL    string
	Header http.Header // names in any case
	Body   []byte

	Timeout      time.Duration // 0: the client's; negative: none but the context's
	IdleTimeout  time.Duration // Open only, longest wait for the next bytes; 0: the client's Timeout; negative: none
	MaxBody      int64         // bytes after decompression; 0: the client's; negative: no limit (Open only)
	MaxRedirects int           // 0: the client's; negative: a redirect is the response
	Memory       Memory        // nil: not accounted
}

// hop is one request on the wire, ready to be sent.
type hop struct {
	method  string
	url     *url.URL // without user and fragment, the host in its one spelling
	to      target
	vhost   string // the script's Host header, or ""
	header  http.Header
	body    []byte
	inflate bool // Accept-Encoding is ours, so undoing it is as well
}

const maxURL = 64 << 10

// newHop checks everything about a request that can be wrong before it is sent.
func newHop(r *Request, userAgent string) (*hop, error) {
	method, err := parseMethod(r.Method)
	if err != nil {
		return nil, err
	}
	u, err := parseURL(r.URL)
	if err != nil {
		return nil, err
	}
	h := &hop{method: method, body: r.Body}
	if h.header, err = copyHeader(r.Header); err != nil {
		return nil, err
	}
	if u.User != nil && h.header.Get("Authorization") == "" {
		h.header.Set("Authorization", basicAuth(u.User))
	}
	if err := h.aim(u); err != nil {
		return nil, err
	}
	if err := h.settleHeader(userAgent); err != nil {
		return nil, err.at(method, h.url)
	}
	return h, nil
}

func parseMethod(s string) (string, error) {
	const longest = 64
	if len(s) > longest {
		return "", invalid(fmt.Sprintf("the method is longer than %d bytes", longest))
	}
	upper := strings.ToUpper(s)
	switch upper {
	case "":
		return http.MethodGet, nil
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return upper, nil
	case "CONNECT", "TRACE":
		return "", invalid("the method " + upper + " is not available to scripts")
	}
	if !httpguts.ValidHeaderFieldName(s) { // a method and a header name are the same kind of token
		return "", invalid("the method " + quote(s) + " is not valid")
	}
	return s, nil
}

func parseURL(s string) (*url.URL, error) {
	if len(s) > maxURL {
		return nil, invalid("the URL is longer than " + strconv.Itoa(maxURL) + " bytes")
	}
	u, err := url.Parse(s)
	if lacksScheme(s, u) {
		return nil, invalid("the URL " + quote(s) + " has no http:// in front: write http://" + unquoted(s) + ", or https://")
	}
	if err != nil {
		return nil, invalid("the URL " + quote(s) + " is not valid: " + innermostURL(err))
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, invalid("the URL " + quote(s) + " must begin with http:// or https://")
	}
	if u.Opaque != "" || u.Host == "" {
		return nil, invalid("the URL " + quote(s) + " has no host")
	}
	return u, nil
}

// lacksScheme says whether s, which may have been no URL, is one when http:// is put in front. Before a port
// a host's name looks like a scheme.
func lacksScheme(s string, parsed *url.URL) bool {
	if strings.Contains(s, "://") || strings.HasPrefix(s, "/") {
		return false
	}
	if parsed != nil && parsed.Opaque != "" && strings.Trim(parsed.Opaque[:1], "0123456789") != "" {
		return false // mailto:somebody
	}
	u, err := url.Parse("http://" + s)
	return err == nil && u.Hostname() != ""
}

func innermostURL(err error) string {
	if e, ok := err.(*url.Error); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// aim points h at u: what is checked later and what is dialled are both taken
// from the one spelling made here.
func (h *hop) aim(u *url.URL) error {
	name, err := parseHost(u.Hostname())
	if err != nil {
		return invalid("the host " + quote(u.Hostname()) + " in the URL is " + err.Error())
	}
	port, err := portOf(u)
	if err != nil {
		return err
	}
	h.to = target{name, port}
	c := *u
	c.User, c.Fragment, c.RawFragment = nil, "", ""
	c.RawQuery = escapeQuery(u.RawQuery)
	c.Host = name.name
	if u.Port() != "" && port != defaultPort(u.Scheme) {
		c.Host = net.JoinHostPort(name.name, strconv.Itoa(int(port)))
	} else if strings.Contains(name.name, ":") {
		c.Host = "[" + name.name + "]"
	}
	h.url = &c
	return nil
}

func defaultPort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}

func portOf(u *url.URL) (uint16, error) {
	if u.Port() == "" {
		return defaultPort(u.Scheme), nil
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || n == 0 {
		return 0, invalid("the port " + quote(u.Port()) + " in the URL is not valid")
	}
	return uint16(n), nil
}

// escapeQuery mends the bytes that would break the request line; net/url leaves
// a query as it was written.
func escapeQuery(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// copyHeader joins names that differ in case only, in a fixed order.
func copyHeader(in http.Header) (http.Header, error) {
	names := make([]string, 0, len(in))
	for name := range in {
		names = append(names, name)
	}
	slices.Sort(names)
	out := make(http.Header, len(in)+2)
	for _, name := range names {
		if !httpguts.ValidHeaderFieldName(name) {
			return nil, invalid("the header name " + quote(name) + " is not valid")
		}
		for _, value := range in[name] {
			if !httpguts.ValidHeaderFieldValue(value) {
				return nil, invalid("the value of header " + name + " has a control character in it (CR, LF or NUL perhaps)")
			}
			out.Add(name, value)
		}
	}
	return out, nil
}

// settleHeader takes out what the connection decides and adds what it needs.
func (h *hop) settleHeader(userAgent string) *Error {
	for _, name := range []string{"Transfer-Encoding", "Upgrade", "Trailer"} {
		if len(h.header[name]) > 0 {
			return invalid("the header " + name + " is not available to scripts")
		}
	}
	if sizes := h.header["Content-Length"]; len(sizes) > 0 && (len(sizes) > 1 || sizes[0] != strconv.Itoa(len(h.body))) {
		return invalid("Content-Length does not match the body; leave it out, it is set for you")
	}
	if hosts := h.header["Host"]; len(hosts) > 1 {
		return invalid("there is more than one Host header")
	}
	h.vhost = h.header.Get("Host")
	if !strings.EqualFold(h.header.Get("Connection"), "close") {
		h.header.Del("Connection")
	}
	for _, name := range []string{"Host", "Content-Length", "Keep-Alive", "Proxy-Connection"} {
		h.header.Del(name)
	}
	if _, set := h.header["User-Agent"]; !set {
		h.header.Set("User-Agent", userAgent)
	}
	// A range of a compressed body is a range of other bytes.
	if _, set := h.header["Accept-Encoding"]; !set && h.header.Get("Range") == "" {
		h.header.Set("Accept-Encoding", "gzip, deflate")
		h.inflate = true
	}
	return nil
}

func basicAuth(user *url.Userinfo) string {
	password, _ := user.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password))
}

func quote(s string) string {
	const most = 100
	if len(s) > most {
		return strconv.Quote(strings.ToValidUTF8(s[:most], "")) + "..." // the cut may be within a character
	}
	return strconv.Quote(s)
}

// unquoted is a text without quotes inside a message, which should stay one line.
func unquoted(s string) string {
	quoted := quote(s)
	if strings.HasSuffix(quoted, "...") {
		return "..."
	}
	return quoted[1 : len(quoted)-1]
}
