package jsonvalue

// Weight is about how many bytes of memory the value of a text takes, for whoever has it read by others. It does not
// look whether the text is JSON.
func Weight(text []byte) int64 {
	total, quoted := len(text), false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			if quoted = !quoted; quoted {
				total += textCost
			}
		case quoted:
		case c == '{':
			total += objectCost
			if i+1 < len(text) && text[i+1] != '}' {
				total += groupCost
			}
		case c == '[':
			total += arrayCost
		case c == ',':
			total += itemCost
		}
	}
	return int64(total)
}
