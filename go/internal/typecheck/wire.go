package typecheck

// What goes over the pipes, one JSON value in a line; rust/check/src/wire.rs is the other end.

const protocol = 1

// script is the name that the process knows each checked script by, so that none leaves a trace.
const script = "=script"

type hello struct {
	Program  string `json:"luau_check"`
	Protocol int    `json:"protocol"`
}

type loadRequest struct {
	Op          string  `json:"op"`
	ID          uint64  `json:"id"`
	Definitions string  `json:"definitions"`
	Text        string  `json:"text"`
	Seconds     float64 `json:"seconds"`
}

type dropRequest struct {
	Op          string `json:"op"`
	ID          uint64 `json:"id"`
	Definitions string `json:"definitions"`
}

type checkRequest struct {
	Op          string  `json:"op"`
	ID          uint64  `json:"id"`
	Definitions string  `json:"definitions"`
	Module      string  `json:"module"`
	Source      string  `json:"source"`
	Strict      bool    `json:"strict"`
	Seconds     float64 `json:"seconds"`
	Modules     string  `json:"modules"`
}

// reply is what the process writes: an answer, or a question for a module in the middle of a check.
type reply struct {
	Ask *struct {
		From string `json:"from"`
		Name string `json:"name"`
	} `json:"ask"`
	ID       uint64 `json:"id"`
	Failed   string `json:"failed"`
	Findings []raw  `json:"findings"`
}

type foundModule struct {
	Found struct {
		Module string `json:"module"`
		Source string `json:"source"`
	} `json:"found"`
}

type missingModule struct {
	Missing string `json:"missing"`
}

// raw is a finding as the checker has it.
type raw struct {
	Kind      string   `json:"kind"`
	Line      int      `json:"line"`
	Column    int      `json:"column"`
	EndLine   int      `json:"end_line"`
	EndColumn int      `json:"end_column"`
	Declared  bool     `json:"declared"` // of the definitions or Luau's own library
	Path      string   `json:"path"`
	Field     string   `json:"field"`
	Name      string   `json:"name"`
	Wanted    string   `json:"wanted"`
	Given     string   `json:"given"`
	Message   string   `json:"message"`
	Names     []string `json:"names"`
	AllNames  bool     `json:"all_names"` // there are no others than Names
}
