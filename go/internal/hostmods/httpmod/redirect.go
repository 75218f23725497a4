package httpmod

import (
	"io"
	"net/http"
	"strconv"
	"strings"
)

// safeHeaders may go to another origin: they say what is wanted, not who asks.
// It is a list of what stays because no list of secret names can be complete.
var safeHeaders = map[string]bool{
	"Accept": true, "Accept-Charset": true, "Accept-Encoding": true, "Accept-Language": true,
	"Cache-Control": true, "Pragma": true, "Range": true, "User-Agent": true,
	"If-Match": true, "If-None-Match": true, "If-Modified-Since": true, "If-Unmodified-Since": true, "If-Range": true,
	"Content-Type": true, "Content-Encoding": true, "Content-Language": true, "Content-Disposition": true,
	"Prefer": true, "Dnt": true, "X-Requested-With": true, "Connection": true,
}

// location returns where a response redirects to; "" when it is the answer.
func location(resp *http.Response) string {
	switch resp.StatusCode {
	case 301, 302, 303, 307, 308:
		return resp.Header.Get("Location")
	}
	return ""
}

// redirect makes the next hop. Fragments play no part in it: they are never sent.
func (h *hop) redirect(status int, where string) (*hop, error) {
	u, err := h.url.Parse(where)
	if err != nil {
		return nil, upstream("the server redirects to "+quote(where)+", which is not a valid URL", false, err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, upstream("the server redirects to "+quote(where)+", which is not http or https", false, nil)
	}
	next := &hop{method: h.method, header: h.header.Clone(), body: h.body, vhost: h.vhost, inflate: h.inflate}
	if err := next.aim(u); err != nil {
		return nil, upstream("the server redirects to "+quote(where)+": "+err.Error(), false, err)
	}
	if becomesGet(status, h.method) {
		next.method, next.body = http.MethodGet, nil
		dropContent(next.header)
	}
	if !sameOrigin(h, next) {
		next.vhost = ""
		keepSafe(next.header)
	}
	return next, nil
}

func becomesGet(status int, method string) bool {
	switch status {
	case 301, 302:
		return method == http.MethodPost
	case 303:
		return method != http.MethodGet && method != http.MethodHead
	}
	return false
}

func dropContent(header http.Header) {
	for name := range header {
		if strings.HasPrefix(name, "Content-") || name == "Expect" {
			delete(header, name)
		}
	}
}

func sameOrigin(a, b *hop) bool { return a.url.Scheme == b.url.Scheme && a.to == b.to }

func keepSafe(header http.Header) {
	for name := range header {
		if !safeHeaders[name] {
			delete(header, name)
		}
	}
}

// tooMany words the error for a chain that does not end.
func tooMany(limit int) *Error {
	return &Error{Code: CodeLimit, Message: "stopped after " + strconv.Itoa(limit) + " redirects"}
}

// finish makes the connection usable again when the rest of a body is small;
// otherwise closing it is cheaper.
func finish(resp *http.Response) {
	const small = 4 << 10
	if resp.ContentLength >= 0 && resp.ContentLength <= small {
		_, _ = io.Copy(io.Discard, resp.Body) // what goes wrong here shows on the next hop
	}
	resp.Body.Close()
}
