package luaudoc

import "strings"

// BlockKind is what a part of a comment is.
type BlockKind int

// The parts of comments.
const (
	Paragraph BlockKind = iota
	Item                // of a list
	Code
)

// Block is one part of a comment.
type Block struct {
	Kind BlockKind
	Text string // of a paragraph and an item in one line; of code as it is written
	Info string // what follows the fence of code: "luau", "luau no-run"
}

const fence = "```"

// Blocks are the parts of a comment: paragraphs with empty lines between, lists of lines that begin with
// "- ", and code, between fences or indented by a tab or four spaces.
func Blocks(comment string) []Block {
	var list []Block
	lines := strings.Split(comment, "\n")
	fresh := true // nothing goes on from the line before
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t")
		trimmed := strings.TrimLeft(line, " \t")
		last := len(list) - 1
		switch {
		case trimmed == "":
			fresh = true
			continue
		case strings.HasPrefix(trimmed, fence):
			var code Block
			code, i = fenced(lines, i)
			list = append(list, code)
			fresh = true
			continue
		case isIndented(line) && fresh:
			var code Block
			code, i = indented(lines, i)
			list = append(list, code)
			continue
		case strings.HasPrefix(trimmed, "- "):
			list = append(list, Block{Kind: Item, Text: strings.TrimSpace(trimmed[2:])})
		case fresh || last < 0:
			list = append(list, Block{Text: trimmed})
		default:
			list[last].Text += " " + trimmed
		}
		fresh = false
	}
	return list
}

func isIndented(line string) bool {
	return strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ")
}

// fenced is the code of the fence in line i, and its last line.
func fenced(lines []string, i int) (Block, int) {
	open := strings.TrimLeft(lines[i], " \t")
	block := Block{Kind: Code, Info: strings.TrimSpace(strings.Trim(open, "`"))}
	first := i + 1
	for i++; i < len(lines) && !strings.HasPrefix(strings.TrimLeft(lines[i], " \t"), fence); i++ {
	}
	block.Text = strings.Join(dedented(lines[first:min(i, len(lines))]), "\n")
	return block, i
}

// indented is the code that begins in line i, and its last line.
func indented(lines []string, i int) (Block, int) {
	first, end := i, i+1
	for ; i < len(lines) && (isIndented(lines[i]) || strings.TrimSpace(lines[i]) == ""); i++ {
		if strings.TrimSpace(lines[i]) != "" {
			end = i + 1
		}
	}
	return Block{Kind: Code, Info: "luau", Text: strings.Join(dedented(lines[first:end]), "\n")}, end - 1
}

// Summary is the first sentence of a comment.
func Summary(comment string) string {
	for _, block := range Blocks(comment) {
		if block.Kind != Code {
			return sentence(block.Text)
		}
	}
	return ""
}

func sentence(text string) string {
	for at := 0; ; {
		stop := strings.Index(text[at:], ". ")
		if stop < 0 {
			return text
		}
		at += stop + 1
		if at < 2 || text[at-2] != '.' { // no ellipsis
			return text[:at]
		}
	}
}
