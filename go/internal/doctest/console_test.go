package doctest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A command is one of a console block, with what the page shows below it.
type command struct {
	line  string
	input string // what is typed at the prompt that it shows
	want  string
	at    int // its line in the page
}

// commands reads a console block: "$ " begins a command, which a backslash at the end continues; what is
// below is its output. Below `luau repl` lines that begin with its prompts are typed.
func commands(b block) ([]command, error) {
	var list []command
	continued := false
	for i, line := range lines(b.text) {
		text, starts := strings.CutPrefix(line, "$ ")
		switch {
		case continued:
			c := &list[len(list)-1]
			c.line += "\n" + line
			continued = strings.HasSuffix(line, `\`)
		case starts:
			list = append(list, command{line: text, at: b.line + i})
			continued = strings.HasSuffix(text, `\`)
		case len(list) == 0:
			return nil, fmt.Errorf("a console block begins with a command: a line that begins with \"$ \"")
		default:
			list[len(list)-1].below(line)
		}
	}
	return list, nil
}

func (c *command) below(line string) {
	if strings.HasPrefix(c.line, "luau repl") {
		for _, prompt := range []string{"> ", ".. "} {
			if typed, ok := strings.CutPrefix(line, prompt); ok {
				c.input += typed + "\n"
				return
			}
		}
	}
	c.want += line + "\n"
}

// shows says whether the next command shows how this one ended, so that it may have failed.
func (c *command) shows(next *command) bool {
	return next != nil && strings.HasPrefix(next.line, "echo $?")
}

// mark begins the line that the shell writes after each command.
const mark = "\x01ended "

// script is the shell's: all commands of a block run in one shell, as at a terminal. After each, a line
// says with which code, and $? is as it was.
func script(list []command) string {
	var b strings.Builder
	for _, c := range list {
		b.WriteString(c.line)
		if c.input != "" {
			b.WriteString(" <<'END OF INPUT'\n" + c.input + "END OF INPUT")
		}
		b.WriteString("\ncode=$?; printf '\\n" + mark + "%s\\n' $code; (exit $code)\n")
	}
	return b.String()
}

func (r *runner) console(b block) {
	list, err := commands(b)
	if err != nil {
		r.fault(b.line, "%v", err)
		return
	}
	if r.page.needsNPM() {
		return
	}
	if withoutGo() && slices.ContainsFunc(list, func(c command) bool { return strings.HasPrefix(c.line, "go ") }) {
		return
	}
	if serves(list) {
		r.serve(list[0])
		return
	}
	output := r.sh(script(list))
	for i := range list {
		c, next := &list[i], (*command)(nil)
		if i+1 < len(list) {
			next = &list[i+1]
		}
		text, rest, ended := strings.Cut(output, "\n"+mark)
		end, rest, _ := strings.Cut(rest, "\n")
		output = rest
		code, err := strconv.Atoi(end)
		switch problem := difference(c.want, text); {
		case !ended || err != nil:
			r.fault(c.at, "%s: the shell gave up: %s", c.line, text)
			return
		case problem != "":
			r.fault(c.at, "%s: %s", c.line, problem)
		case code != 0 && !c.shows(next):
			r.fault(c.at, "%s: exit code %d; if that is meant, show it by `$ echo $?` below", c.line, code)
		}
	}
}
