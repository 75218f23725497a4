package openapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/hukilau/hukilau/go/internal/size"
)

const mostDocuments = 200

// place is where a text is: at a URL, or in a file of the main document's folder.
type place struct {
	url          *url.URL
	folder, name string
}

func (p place) String() string {
	if p.url != nil {
		return p.url.String()
	}
	return p.name
}

func placeOf(spec string) (place, error) {
	if lower := strings.ToLower(spec); strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") {
		u, err := url.Parse(spec)
		if err != nil || u.Host == "" {
			return place{}, errors.New("it is no URL")
		}
		u.Fragment = ""
		return place{url: u}, nil
	}
	spec = strings.ReplaceAll(spec, `\`, "/")
	folder, name := path.Split(spec)
	if name == "" {
		return place{}, errors.New("it is a folder, not a document")
	}
	if folder == "" {
		folder = "."
	}
	return place{folder: folder, name: name}, nil
}

// relative is what a reference means from here. It never leaves the folder, or the origin.
func (p place) relative(reference string) (place, error) {
	u, err := url.Parse(reference)
	if err != nil {
		return place{}, errors.New("it is no address")
	}
	if p.url != nil {
		to := p.url.ResolveReference(u)
		to.Fragment = ""
		if !sameOrigin(p.url, to) {
			return place{}, fmt.Errorf("nothing is loaded from other servers than the document's own, %s", p.url.Host)
		}
		return place{url: to}, nil
	}
	if u.Scheme != "" || u.Host != "" {
		return place{}, errors.New("a document in a file loads nothing from the network")
	}
	name := path.Join(path.Dir(p.name), u.Path)
	if path.IsAbs(u.Path) || name == ".." || strings.HasPrefix(name, "../") || strings.Contains(name, `\`) {
		return place{}, errors.New("it is outside of the document's folder")
	}
	return place{folder: p.folder, name: name}, nil
}

// sameOrigin says whether two addresses have one scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	if strings.EqualFold(u.Scheme, "https") {
		return "443"
	}
	return "80"
}

// reader brings texts, within the bounds of one API.
type reader struct {
	config  *Config
	options Options
	redact  func(string) string
	left    int64
	sums    []sum // of what was read, in order
}

// sum is one text that an API was made of.
type sum struct{ Place, Hash string }

func (r *reader) read(ctx context.Context, p place) ([]byte, place, error) {
	var text []byte
	var err error
	at := p
	switch {
	case p.url != nil:
		text, at, err = r.fetch(ctx, p)
	case r.options.ReadFile == nil:
		err = errors.New("files cannot be read here: give a URL")
	default:
		text, err = r.options.ReadFile(p.folder, p.name)
	}
	if err != nil {
		return nil, at, err
	}
	if r.left -= int64(len(text)); r.left < 0 {
		return nil, at, r.tooLarge()
	}
	hash := sha256.Sum256(text)
	r.sums = append(r.sums, sum{p.String(), hex.EncodeToString(hash[:])})
	return text, at, nil
}

func (r *reader) tooLarge() error {
	return fmt.Errorf("the documents of this API are larger than %s", size.Bytes(r.options.MaxSpec))
}

// fetch follows redirects within the origin only where the document is a part of another one.
func (r *reader) fetch(ctx context.Context, p place) ([]byte, place, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url.String(), nil)
	if err != nil {
		return nil, p, err
	}
	request.Header.Set("Accept", "application/json, application/yaml;q=0.9, text/yaml;q=0.9, */*;q=0.5")
	request.Header.Set("User-Agent", r.options.UserAgent)
	if base, err := url.Parse(r.config.BaseURL); err == nil && base.Host != "" && sameOrigin(base, p.url) {
		for name, value := range r.config.Headers {
			request.Header.Set(name, value)
		}
	}
	first := len(r.sums) == 0
	client := &http.Client{Transport: r.options.HTTP, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if !first && !sameOrigin(next.URL, via[0].URL) {
			return errors.New("it redirects to another server, which is not followed")
		}
		return checkRedirect(next, via)
	}}
	response, err := client.Do(request)
	if err != nil {
		return nil, p, errors.New(r.redact(plainCause(err)))
	}
	defer response.Body.Close()
	at := place{url: response.Request.URL}
	if response.StatusCode != http.StatusOK {
		return nil, at, fmt.Errorf("the server answered %s", response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, r.left+1))
	if err != nil {
		return nil, at, errors.New(r.redact(plainCause(err)))
	}
	return text, at, nil
}

// plainCause leaves the method and the address out of an error of net/http: whoever reports it names them.
func plainCause(err error) string {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil { // without addresses: whoever calls knows the service by its name
		err = op.Err
	}
	var name *net.DNSError
	if errors.As(err, &name) {
		return name.Err
	}
	return err.Error()
}

// open gives another document that one refers to.
func (l *library) open(from *document, address string) (*document, error) {
	to, err := from.place.relative(address)
	if err != nil {
		return nil, err
	}
	key := to.String()
	if known, ok := l.documents[key]; ok {
		return known, l.failures[key]
	}
	if len(l.documents) >= mostDocuments {
		return nil, fmt.Errorf("more than %d documents", mostDocuments)
	}
	found, err := l.load(to, from.old)
	l.documents[key], l.failures[key] = found, err
	return found, err
}

func (l *library) load(p place, old bool) (*document, error) {
	text, at, err := l.reader.read(l.ctx, p)
	if err != nil {
		return nil, err
	}
	tree, err := parse(text)
	if err != nil {
		return nil, err
	}
	root, ok := tree.(map[string]any)
	if !ok {
		return nil, errors.New("it is no object")
	}
	return &document{place: at, root: root, old: old}, nil
}
