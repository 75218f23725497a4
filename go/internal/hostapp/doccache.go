package hostapp

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// What was made of documents is kept beside the project's store. That folder may come with a project from a stranger,
// and a kept text says where requests with credentials go: each is signed with a key of the user's own, and what is not
// is made anew.

// mostCached is how many documents are kept: each change of one makes another.
const mostCached = 24

// cachePath is where what was made of a document is kept.
func (p *Project) cachePath(key string) string {
	return filepath.Join(filepath.Dir(p.StatePath()), "cache", filepath.Base(key))
}

func (p *Project) cached(key string) []byte {
	text, err := readRegular(p.cachePath(key), maxDocument+sha256.Size)
	if err != nil || len(text) < sha256.Size {
		return nil // it is made anew
	}
	signed, text := text[:sha256.Size], text[sha256.Size:]
	if secret := cacheSecret(); secret == nil || !hmac.Equal(signed, signature(secret, key, text)) {
		return nil
	}
	return text
}

// cache keeps a text. Where that fails it is made anew the next time.
func (p *Project) cache(key string, text []byte) {
	secret := cacheSecret()
	path := p.cachePath(key)
	if secret == nil || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	trimCache(filepath.Dir(path))
	_ = replaceFile(path, slices.Concat(signature(secret, key, text), text), 0o600)
}

func signature(secret []byte, key string, text []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(key + "\x00"))
	mac.Write(text)
	return mac.Sum(nil)
}

// cacheSecret is the user's key, which is made when it is first needed; nil where there is no place for one.
func cacheSecret() []byte {
	base, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	path := filepath.Join(base, "hukilau", "documents.key")
	if secret, err := readRegular(path, sha256.Size); err == nil && len(secret) == sha256.Size {
		return secret
	}
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return nil
	}
	secret := make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // it never fails
	f, err := os.CreateTemp(filepath.Dir(path), ".hukilau-*")
	if err != nil {
		return nil
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(secret); errors.Join(err, f.Close()) != nil {
		return nil
	}
	if os.Link(f.Name(), path) == nil { // whole at once, and only where no other process was faster
		return secret
	}
	if secret, err = readRegular(path, sha256.Size); err != nil || len(secret) != sha256.Size {
		return nil
	}
	return secret
}

// trimCache deletes the oldest documents, and what a process left that was ended while it wrote.
func trimCache(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // there is nothing to delete
	}
	var kept []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil || !info.Mode().IsRegular():
		case strings.HasPrefix(e.Name(), "openapi-"):
			kept = append(kept, info)
		case strings.HasPrefix(e.Name(), ".hukilau-") && time.Since(info.ModTime()) > time.Hour:
			_ = os.Remove(filepath.Join(dir, e.Name())) // the next one tries again
		}
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, old := range kept[:max(len(kept)-mostCached+1, 0)] {
		_ = os.Remove(filepath.Join(dir, old.Name()))
	}
}
