package gateway

import (
	"crypto/sha256"
	"sync"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// scriptChunk is the name of scripts in errors.
const scriptChunk = "=script"

// maxScripts bounds the bytecode that is kept, in bytes.
const maxScripts = 8 << 20

// scripts keep the bytecode of what was run: models run the same script with small changes, and again. The zero
// value is ready.
type scripts struct {
	mu   sync.Mutex
	all  map[[sha256.Size]byte]*luau.Bytecode
	size int
}

func (s *scripts) compile(source string) (*luau.Bytecode, error) {
	key := sha256.Sum256([]byte(source))
	s.mu.Lock()
	code := s.all[key]
	s.mu.Unlock()
	if code != nil {
		return code, nil
	}
	code, err := luau.Compile(scriptChunk, source, luau.CompileOptions{})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[[sha256.Size]byte]*luau.Bytecode{}
	}
	for old, other := range s.all {
		if s.size+code.Size() <= maxScripts {
			break
		}
		s.size -= other.Size()
		delete(s.all, old)
	}
	if s.all[key] == nil {
		s.size += code.Size()
	}
	s.all[key] = code
	return code, nil
}
