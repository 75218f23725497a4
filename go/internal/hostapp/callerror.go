package hostapp

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// shownError is how a call failed, as a person at the command line reads it: the place in the script with its
// traceback, the arguments that are wrong, or what to do next.
func (h *Host) shownError(tool string, failed *toolhost.Error) error {
	if script := toolhost.ScriptError(failed); script != nil {
		if failed.Code == toolhost.Timeout || failed.Detail == "memory" || failed.Detail == "invalid_result" {
			script.Message = failed.Message // it names tool and limit
		}
		if _, more, raised := strings.Cut(failed.Text(), "\ncode: "); raised { // as other faces tell it
			script.Message += "\ncode: " + more
		}
		script.Message = h.Project.redact(script.Message)
		h.Project.showPlaces(script)
		return script
	}
	text := h.Project.redact(failed.Message)
	switch failed.Code {
	case toolhost.BadRequest:
		return &usageError{"tool " + tool + ": " + h.Project.redact(wrongArguments(failed))}
	case toolhost.NeedsApproval:
		if failed.Detail == "pending" {
			return app.WithHint(errors.New(text), "to approve it: luau approvals approve "+failed.ID+
				"\nthen call again with the same arguments and: --approval "+failed.ID)
		}
	}
	return errors.New(text)
}

// wrongArguments names all that is wrong, a line each.
func wrongArguments(failed *toolhost.Error) string {
	data, _ := failed.Data.(map[string]any)
	list, _ := data["violations"].([]any)
	if len(list) == 0 {
		return placed(failed.Path, failed.Message)
	}
	var lines []string
	for _, item := range list {
		violation, _ := item.(map[string]any)
		path, _ := violation["path"].(string)
		message, _ := violation["message"].(string)
		lines = append(lines, placed(path, message))
	}
	return strings.Join(lines, "\n")
}

// placed is a message with the argument that it is about, where it does not name that itself.
func placed(path, message string) string {
	name := strings.TrimPrefix(path, "/")
	if name == "" || strings.HasSuffix(message, ": "+name) {
		return message
	}
	return name + ": " + message
}

// showPlaces makes the names of files in an error those that lead there from the working directory.
func (p *Project) showPlaces(e *luau.Error) {
	known := map[string]string{}
	shown := func(chunk string) string {
		name, isFile := strings.CutPrefix(chunk, "@")
		if !isFile {
			return chunk
		}
		if _, seen := known[name]; !seen {
			known[name] = name
			if _, err := os.Stat(filepath.Join(p.Folder, filepath.FromSlash(name))); err == nil && !filepath.IsAbs(name) {
				known[name] = p.Shown(filepath.FromSlash(name))
			}
		}
		return "@" + known[name]
	}
	e.Chunk = shown(e.Chunk)
	for i := range e.Frames {
		e.Frames[i].Chunk = shown(e.Frames[i].Chunk)
	}
}
