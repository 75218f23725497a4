// Package config reads hukilau.toml, the configuration of the tool host. It reads text only: which file, and
// what a variable holds, is told to it.
package config

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/units"
)

// Config is what a file says. A zero value of a field means that the file does not say it; Dir and paths
// are joined, so that relative paths start at the file's folder.
type Config struct {
	Name        string // of the file, for messages
	Dir         string
	Tools       Tools
	Server      Server
	Models      map[string]Model
	Limits      Limits
	Permissions Permissions // what every tool is granted
	StateDir    string
	MaxState    int64 // bytes of the state of tools
	MaxKept     int64 // bytes of answers and outcomes that are kept for callers
	Log         Log
	Music       Music
	Sources     // of the gateway
	Gateway     Gateway

	secrets []string
	places  places
	unset   []Unset
}

// Unset is a place that a variable without a value was to fill.
type Unset struct {
	Path     []string
	Variable string
	Err      *Error // what Parse would have failed with
}

// Unset are those places, in order; none unless Options.Placeholder was given.
func (c *Config) Unset() []Unset { return c.unset }

// Line is where a key stands, or the nearest table around it that does; 0 when unknown.
func (c *Config) Line(path ...string) int {
	line, _ := c.places.find(path)
	return line
}

// Tools says where tools are, and what single ones get.
type Tools struct {
	Dirs     []string
	Scripts  map[string]Script // [tools.script.<name>]
	Policies map[string]Policy // [tools.policy.<name>]
}

// Script is a tool of its own with its configuration.
type Script struct {
	Path    string
	Timeout time.Duration
	Approve bool
	Rate    units.Rate
	Config  map[string]any // all other keys, a JSON tree; never nil
}

// Isolation is how runs of a tool are kept apart.
type Isolation string

// The kinds of isolation.
const (
	Pristine Isolation = "pristine" // each run in a VM as new
	Thread   Isolation = "thread"   // runs share the tool's VM
)

// Policy is what a tool may use.
type Policy struct {
	Memory      int64 // bytes
	Timeout     time.Duration
	Isolation   Isolation
	Approve     *bool // nil: as the tool says
	Rate        units.Rate
	Permissions Permissions
}

// Permissions are grants. A list that is nil says nothing; one that is empty grants nothing.
type Permissions struct {
	Net        []string // hosts with public addresses
	NetPrivate []string // hosts or CIDRs that may be private
	Env        []string
	Read       []string
	Write      []string
	Models     []string
	Tools      []string
	Servers    []string
}

// Server is how tools are served.
type Server struct {
	Bind             string
	Token            string
	OperatorToken    string
	OperatorApproves bool     // users of MCP clients are not asked
	Cors             []string // origins
	Hosts            []string // allowed in Host headers
	BodyLimit        int64
	MaxRuns          int
	Queue            int
	QueueSet         bool // Queue is 0 by the file's wish
	HeaderTimeout    time.Duration
	RequestTimeout   time.Duration // until a body is read
	IdleTimeout      time.Duration
	Drain            time.Duration
}

// Model is one of [models.<name>].
type Model struct {
	Provider   string
	Model      string
	BaseURL    string
	APIKey     string
	Headers    map[string]string
	Timeout    time.Duration
	MaxRetries int
	RetriesSet bool   // MaxRetries is 0 by the file's wish
	Script     string // path, for the provider "script"
}

// Providers are the names that a model's provider may have.
var Providers = []string{"openai", "anthropic", "gemini", "openai-compatible", "script"}

// Limits bound one run.
type Limits struct {
	Time      time.Duration
	Memory    int64
	HostCalls int
	Output    int64
	Log       int64
	Tokens    int
	Depth     int // of tools that call tools
}

// Log is the execution log and what is written while serving.
type Log struct {
	Retention time.Duration
	MaxSize   int64
	Level     string // debug, info, warn, error
	Format    string // text, json
}

// Music is for the music functions.
type Music struct {
	Folder string
	Output string // empty or "null", a wav file, or a command
}

// Options is how Parse reads.
type Options struct {
	Name      string                      // of the file, for messages; empty means hukilau.toml
	Dir       string                      // where relative paths start
	LookupEnv func(string) (string, bool) // nil has no variables
	// Placeholder stands for variables that are not set and have no default, and what is said there is not checked;
	// empty: they are errors.
	Placeholder string
}

// Error is one thing that is wrong with a file.
type Error struct {
	File         string
	Line, Column int // from 1; 0 where no place is known
	Key          string
	Problem      string
}

func (e *Error) Error() string {
	place := e.File
	if e.Line > 0 {
		place = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
	}
	if e.Key == "" {
		return place + ": " + e.Problem
	}
	return place + ": " + e.Key + " " + e.Problem
}

// Errors is all that is wrong with a file, in the order of lines.
type Errors []*Error

func (list Errors) Error() string {
	lines := make([]string, len(list))
	for i, e := range list {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the single errors.
func (list Errors) Unwrap() []error {
	out := make([]error, len(list))
	for i, e := range list {
		out[i] = e
	}
	return out
}

// Parse reads a file. Its error is always of type Errors; messages show no secret.
func Parse(data []byte, options Options) (*Config, error) {
	if options.Name == "" {
		options.Name = "hukilau.toml"
	}
	r := &reader{options: options}
	tree := r.parse(data)
	if len(r.errors) > 0 {
		return nil, r.failed()
	}
	r.expandAll(tree)
	if len(r.errors) > 0 {
		return nil, r.failed()
	}
	c := &Config{Name: options.Name, Dir: options.Dir}
	root := r.table(nil, tree)
	c.read(root)
	if len(r.errors) > 0 {
		return nil, r.failed()
	}
	c.secrets, c.places, c.unset = r.secretList(), r.places, r.unset
	slices.SortStableFunc(c.unset, func(a, b Unset) int { return a.Err.Line - b.Err.Line })
	return c, nil
}

// Secrets lists the texts that must never be shown: what came from variables, what the names of keys say is
// secret, and what sources are given to show who calls.
func (c *Config) Secrets() []string {
	return sorted(append(c.Sources.secrets(), c.secrets...))
}

// Path makes a path of the file a full one.
func (c *Config) Path(name string) string {
	if name == "" || filepath.IsAbs(name) || path.IsAbs(name) {
		return name
	}
	return filepath.Join(c.Dir, filepath.FromSlash(name))
}
