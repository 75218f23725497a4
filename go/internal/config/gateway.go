package config

import "time"

// Face is which tools a client of the gateway sees.
type Face string

// The faces.
const (
	SDKFace   Face = "sdk"   // list_apis, list_functions, search_docs, get_function_docs, execute_script
	ProxyFace Face = "proxy" // execute, list-servers, list-server-tools, tool-details, inspect-tool-response
	BothFaces Face = "both"
)

// Check is what becomes of findings of the type checker.
type Check string

// The kinds of checks. Where nothing is said, calls that cannot work are errors, and the rest are warnings.
const (
	CheckOff   Check = "off"
	CheckWarn  Check = "warn"
	CheckError Check = "error"
)

// What holds where nothing is said. The memory of a script is then that of [limits].
const (
	DefaultMaxCalls    = 1000
	DefaultConcurrency = 32
	DefaultMaxResult   = 50_000
	DefaultMaxBytes    = 64 << 20
	DefaultSaved       = "scripts"
)

// Gateway is [gateway]. A zero value of a field means that the file does not say it.
type Gateway struct {
	Face        Face
	Check       Check
	MaxCalls    int           // of one script
	Concurrency int           // calls at once to one source
	Timeout     time.Duration // of one script
	Memory      int64         // of one script
	MaxResult   int           // characters; more is kept, and read in pages
	MaxBytes    int64         // that one script may get from sources
	NoResources bool          // those of MCP servers are not passed through
	NoPrompts   bool          // likewise
	NoSamples   bool          // no tool is called to see what it gives
	SaveScripts bool          // scripts may be saved as tools
	Saved       string        // the folder of those
	Policy      []Rule
}

func readGateway(c *Config, t *table) Gateway {
	g := Gateway{
		Face:     Face(t.oneOf("face", string(SDKFace), string(ProxyFace), string(BothFaces))),
		Check:    Check(t.oneOf("check", string(CheckOff), string(CheckWarn), string(CheckError))),
		MaxCalls: t.count("max_calls", 1), Concurrency: t.count("concurrency", 1),
		Timeout: t.duration("timeout"), Memory: t.size("memory"),
		MaxResult: t.count("max_result", 1), MaxBytes: t.size("max_bytes"),
		NoResources: t.off("resources"), NoPrompts: t.off("prompts"), NoSamples: t.off("samples"),
		SaveScripts: t.bool("save_scripts"), Saved: c.Path(t.string("saved")),
	}
	for _, rule := range t.tables("policy") {
		g.Policy = append(g.Policy, readRule(rule))
	}
	t.end()
	return g
}
