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
	var more []string // lines that go on with the last of the list
	add := func(blocks ...Block) {
		if more != nil {
			last := &list[len(list)-1]
			last.Text = strings.Join(append([]string{last.Text}, more...), " ")
			more = nil
		}
		list = append(list, blocks...)
	}
	lines := strings.Split(comment, "\n")
	fresh := true // nothing goes on from the line before
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t")
		trimmed := strings.TrimLeft(line, " \t")
		switch {
		case trimmed == "":
			fresh = true
			continue
		case strings.HasPrefix(trimmed, fence):
			var code Block
			code, i = fenced(lines, i)
			add(code)
			fresh = true
			continue
		case isIndented(line) && fresh:
			var code Block
			code, i = indented(lines, i)
			add(code)
			continue
		case strings.HasPrefix(trimmed, "- "):
			add(Block{Kind: Item, Text: strings.TrimSpace(trimmed[2:])})
		case fresh:
			add(Block{Text: trimmed})
		default:
			more = append(more, trimmed)
		}
		fresh = false
	}
	add()
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

// maxSummary is how much of a comment is looked at for its first sentence.
const maxSummary = 4096

// Summary is the first sentence of a comment.
func Summary(comment string) string {
	if len(comment) > maxSummary {
		comment = strings.ToValidUTF8(comment[:maxSummary], "")
	}
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
