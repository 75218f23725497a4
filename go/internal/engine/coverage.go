package engine

import "github.com/hukilau/hukilau/go/pkg/luau"

// ChunkCoverage says what ran of one chunk.
type ChunkCoverage struct {
	Chunk     string
	Functions []luau.FunctionCoverage
}

type coveredChunk struct {
	chunk string
	fn    *luau.Function
}

// loadChunk is State.Load, and notes what coverage has to be read of.
func (v *VM) loadChunk(code *luau.Bytecode, chunk string, o luau.LoadOptions) (*luau.Function, error) {
	fn, err := v.state.Load(code, chunk, o)
	if err == nil && v.config.Coverage {
		v.covered = append(v.covered, coveredChunk{chunk, fn})
	}
	return fn, err
}

// Coverage says what ran so far of all chunks that were loaded, with Config.Coverage. A VM whose run was
// killed cannot tell any more.
func (v *VM) Coverage() ([]ChunkCoverage, error) {
	out := make([]ChunkCoverage, 0, len(v.covered))
	for _, c := range v.covered {
		functions, err := v.state.Coverage(c.fn)
		if err != nil {
			return nil, err
		}
		out = append(out, ChunkCoverage{c.chunk, functions})
	}
	return out, nil
}
