package luau

// FunctionCoverage says what ran of one function of a chunk.
type FunctionCoverage struct {
	Name  string // empty for the chunk itself and for functions without a name
	Line  int    // where it begins
	Depth int    // of its nesting; 0 for the chunk itself
	Hits  []int  // how often each line ran, from line 1 on; -1 where it has no code
}

// Coverage says what ran of f, a loaded chunk that was compiled with CompileOptions.Coverage: one entry
// for each of its functions, the chunk itself first.
func (s *State) Coverage(f *Function) ([]FunctionCoverage, error) {
	if err := s.acquire(); err != nil {
		return nil, err
	}
	defer s.done()
	if err := f.check(s); err != nil {
		return nil, err
	}
	v, err := s.first(s.vm.Coverage(f.ref))
	if err != nil {
		return nil, err
	}
	list, _ := v.([]any)
	out := make([]FunctionCoverage, 0, len(list))
	for _, item := range list {
		fields, _ := item.([]any)
		if len(fields) != 4 {
			return nil, fail(CodeConvert, "unreadable coverage")
		}
		name, _ := fields[0].(string)
		out = append(out, FunctionCoverage{Name: name, Line: asInt(fields[1]), Depth: asInt(fields[2]), Hits: asInts(fields[3])})
	}
	return out, nil
}

func asInt(v any) int {
	n, _ := v.(float64)
	return int(n)
}

func asInts(v any) []int {
	list, _ := v.([]any)
	out := make([]int, len(list))
	for i, n := range list {
		out[i] = asInt(n)
	}
	return out
}
