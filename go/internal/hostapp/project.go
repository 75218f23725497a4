package hostapp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/internal/redact"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/libs"
)

// ConfigName is the name of the configuration file.
const ConfigName = "hukilau.toml"

// maxConfig is the largest configuration file, in bytes.
const maxConfig = 1 << 20

// Options say which project a command is about. The zero value is the one of the working directory.
type Options struct {
	Dir        string   // the project's folder; "": the working directory, or the one above it that has a hukilau.toml
	ConfigFile string   // "": hukilau.toml of that folder; none is fine
	Tools      []string // files and directories of tools, in place of those of the configuration
	Also       []string // further ones
	Stderr     io.Writer
	LogLevel   string // of the operator's log; "": as configured, else QuietLevel
	QuietLevel string // "": info
	LogFormat  string // "text" or "json"; "": as configured, else text
	Offline    bool   // variables of the configuration that are not set stand for secrets that nobody asks for
	Unset      UnsetRule
}

// UnsetRule says what is done about variables of the configuration that are not set.
type UnsetRule int

// The rules.
const (
	UnsetFails UnsetRule = iota // the configuration cannot be read
	UnsetTold                   // a warning names them: nothing is run
	UnsetLater                  // who runs what needs them fails
)

// Project is a configuration with its tools.
type Project struct {
	Folder string // of the configuration; the working directory where there is none, absolute

	options  Options
	given    []string        // Options.Tools, absolute
	also     []string        // Options.Also, likewise
	replaced []*tooldef.Tool // in place of those of the set
	file     string          // the configuration; "" is none
	files    openFiles
	content  atomic.Pointer[content]
	redactor atomic.Pointer[redact.Redactor]

	secrets        []string          // of the configuration and the tools, as they are and as they were before
	moreSecrets    []string          // of files of other programs
	clientWarnings []*config.Error   // about these
	clientBind     string            // where one of them is served; "": nowhere
	unsetClients   map[string]string // why servers of these cannot be started, by name
}

// content is what was read last.
type content struct {
	config  *config.Config
	set     *tooldef.Set
	secrets []string
}

// Config is the configuration as it was read last.
func (p *Project) Config() *config.Config { return p.content.Load().config }

// Set is the tools as they were read last; nil before the first time.
func (p *Project) Set() *tooldef.Set {
	if c := p.content.Load(); c != nil {
		return c.set
	}
	return nil
}

// redact takes the secrets of the configuration and of the tools out of a text.
func (p *Project) redact(text string) string { return p.redactor.Load().Text(text) }

// Open reads the configuration and the tools. Tools that are broken are in Set.Errors.
func Open(ctx context.Context, o Options) (*Project, error) {
	p := &Project{options: o}
	if err := p.find(); err != nil {
		return nil, err
	}
	var err error
	if p.given, err = existing(o.Tools); err != nil {
		return nil, err
	}
	if p.also, err = existing(o.Also); err != nil {
		return nil, err
	}
	if err := p.Reload(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if _, err := p.newLogger(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.tellUnset()
	return p, nil
}

// existing makes paths absolute; what is not there is an error.
func existing(names []string) (paths []string, err error) {
	for _, name := range names {
		path, err := filepath.Abs(name)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(path); err != nil {
			return nil, &usageError{fmt.Sprintf("%s: no such file or directory", name)}
		}
		paths = append(paths, path)
	}
	return paths, nil
}

type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

// ErrorCode is that of a wrong command line.
func (*usageError) ErrorCode() string { return "usage" }

// find looks for the configuration.
func (p *Project) find() error {
	if p.options.ConfigFile != "" {
		path, err := filepath.Abs(p.options.ConfigFile)
		if err != nil {
			return err
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return &usageError{fmt.Sprintf("--config %s: %s", p.options.ConfigFile, errNotRegular)}
		} else if errors.Is(err, fs.ErrNotExist) {
			return &usageError{fmt.Sprintf("--config %s: no such file or directory", p.options.ConfigFile)}
		}
		p.file, p.Folder = path, filepath.Dir(path)
		return nil
	}
	if p.options.Dir != "" {
		return p.findIn(p.options.Dir)
	}
	working, err := os.Getwd()
	if err != nil {
		return err
	}
	working = filepath.Clean(working) // PWD may end with ".."
	p.Folder = working
	for dir := working; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, ConfigName)
		if exists(path) {
			p.file, p.Folder = path, dir
			return nil
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// findIn looks for the configuration of one folder.
func (p *Project) findIn(dir string) (err error) {
	if p.Folder, err = filepath.Abs(dir); err != nil {
		return err
	}
	if info, err := os.Stat(p.Folder); err != nil || !info.IsDir() {
		return &usageError{dir + ": no such folder"}
	}
	if path := filepath.Join(p.Folder, ConfigName); exists(path) {
		p.file = path
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// configName is the configuration as people see it.
func (p *Project) configName() string {
	if p.file == "" {
		return ConfigName
	}
	return filepath.Base(p.file)
}

// Reload reads everything again. When it fails, the project stays as it was; a tool that is broken now stays as
// its last good version was.
func (p *Project) Reload(ctx context.Context) error {
	if path := filepath.Join(p.Folder, ConfigName); p.file == "" && exists(path) {
		p.file = path // it was written since
	}
	c, err := p.readConfig()
	if err != nil {
		return err
	}
	if err := p.openRoots(c); err != nil {
		return err
	}
	set, err := tooldef.Load(ctx, p.loadOptions(c))
	if err != nil {
		return err
	}
	next := &content{config: c, set: set, secrets: append(c.Secrets(), toolSecrets(set, c)...)}
	all := next.secrets
	if before := p.content.Load(); before != nil {
		all = append(all[:len(all):len(all)], before.secrets...) // calls that run have those
	}
	p.secrets = all
	p.redactor.Store(redact.New(slices.Concat(all, p.moreSecrets)))
	p.content.Store(next)
	return nil
}

// toolSecrets are those that tools have of their own: in their config, and in the variables that they are granted.
func toolSecrets(set *tooldef.Set, c *config.Config) (secrets []string) {
	variables := map[string]bool{}
	for _, t := range grant(set.Tools(), nil, c.Permissions).Tools() {
		secrets = append(secrets, redact.Secrets(t.Config)...)
		for _, name := range t.Permissions.Env {
			variables[name] = true
		}
	}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if value != "" && redact.SecretVariable(name) && (variables[name] || variables["*"]) {
			secrets = append(secrets, value)
		}
	}
	return secrets
}

// Close closes the folders. Nothing of the project may be used then.
func (p *Project) Close() error { return p.files.close() }

func (p *Project) readConfig() (*config.Config, error) {
	o := config.Options{Name: ConfigName, Dir: p.Folder, LookupEnv: os.LookupEnv}
	if p.options.Offline || p.options.Unset != UnsetFails {
		o.Placeholder = redact.Mark
	}
	if p.file == "" {
		return config.Parse(nil, o)
	}
	o.Name = p.configName()
	text, err := readRegular(p.file, maxConfig)
	if err != nil {
		return nil, fmt.Errorf("the configuration %s: %w", p.file, withoutPath(err))
	}
	if len(text) > maxConfig {
		return nil, fmt.Errorf("the configuration %s has more than %d bytes", p.file, maxConfig)
	}
	return config.Parse(text, o)
}

// dirs are where tools are.
func (p *Project) dirs(c *config.Config) []string {
	dirs := append(slices.Clone(p.usualDirs(c)), p.also...)
	if saved := p.savedIn(c); len(p.given) == 0 && isFolder(saved) {
		dirs = append(dirs, saved)
	}
	return dirs
}

func (p *Project) usualDirs(c *config.Config) []string {
	if len(p.given) > 0 {
		return p.given
	}
	if c.Tools.Dirs != nil {
		return c.Tools.Dirs
	}
	if usual := filepath.Join(p.Folder, "tools"); isFolder(usual) {
		return []string{usual}
	}
	return nil
}

// openRoots opens the folders that tools are read from: the project's, and those outside of it that are named.
func (p *Project) openRoots(c *config.Config) error {
	roots := []string{p.Folder}
	paths := slices.Clone(p.dirs(c))
	for _, s := range c.Tools.Scripts {
		paths = append(paths, filepath.Dir(c.Path(s.Path)))
	}
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.Folder, path)
		}
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the loader tells
		}
		if err == nil && !info.IsDir() {
			path = filepath.Dir(path)
		}
		roots = append(roots, path)
	}
	return p.files.open(roots)
}

func (p *Project) loadOptions(c *config.Config) tooldef.Options {
	o := tooldef.Options{
		Files: &p.files, Root: p.Folder, Dirs: p.dirs(c), Previous: p.Set(),
		Scripts: map[string]tooldef.Script{}, Policies: map[string]tooldef.Policy{},
	}
	for name, s := range c.Tools.Scripts {
		if !p.isMeant(c.Path(s.Path)) {
			continue
		}
		o.Scripts[name] = tooldef.Script{Path: s.Path, Timeout: s.Timeout, Approve: s.Approve, Rate: rateOf(s.Rate), Config: s.Config}
	}
	for name, policy := range c.Tools.Policies {
		o.Policies[name] = policyOf(policy)
	}
	o.Resolver = p.resolverOf
	if libraries := p.libraries(); isFolder(libraries) {
		o.Libraries = []string{libraries}
	}
	return o
}

// libraries is the folder whose modules all tools may require by bare names.
func (p *Project) libraries() string { return filepath.Join(p.Folder, "libs") }

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isMeant says whether a [tools.script] belongs to the tools: not where others are named in place of all.
func (p *Project) isMeant(path string) bool {
	if len(p.given) == 0 {
		return true
	}
	return slices.ContainsFunc(p.given, func(given string) bool {
		inside, err := filepath.Rel(given, path)
		return err == nil && filepath.IsLocal(inside)
	})
}

// resolverOf gives what finds the modules that the tool of a chunk requires: files beside it, those of libs/ beside it
// and beside the configuration, and the SDK.
func (p *Project) resolverOf(chunk string) (engine.Resolver, error) {
	o := module.Options{FS: &p.files, Embedded: libs.FS, Dir: p.Folder, Hosted: true}
	if libraries := p.libraries(); isFolder(libraries) {
		o.LastRoots = []string{libraries}
	}
	if path, inFile := strings.CutPrefix(chunk, "@"); inFile {
		o.Script = filepath.FromSlash(path)
	}
	return module.New(o)
}
