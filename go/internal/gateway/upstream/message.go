package upstream

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// message is one of JSON-RPC, in parts of its text.
type message struct {
	id     json.RawMessage // nil: a notification
	method string          // "": an answer
	params json.RawMessage
	result json.RawMessage
	err    json.RawMessage
}

// parse reads a message. It is false for what is none.
func parse(text []byte) (message, bool) {
	var m message
	ok := utf8.Valid(text) && members(text, func(key, value []byte) {
		switch string(key) {
		case "id":
			m.id = value
		case "method":
			m.method = str(value)
		case "params":
			m.params = value
		case "result":
			m.result = value
		case "error":
			m.err = value
		}
	})
	if string(m.err) == "null" && m.result != nil { // some servers write both
		m.err = nil
	}
	return m, ok && (m.method != "" || m.result != nil || m.err != nil)
}

// number is the id of an answer to a request of ours; 0 is none.
func (m *message) number() int64 {
	n, err := strconv.ParseInt(string(m.id), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// wireError is what a server answers in place of a result.
type wireError struct {
	code    int64
	message string
	data    json.RawMessage
}

func parseError(raw json.RawMessage) *wireError {
	e := &wireError{}
	if !members(raw, func(key, value []byte) {
		switch string(key) {
		case "code":
			f, _ := strconv.ParseFloat(string(value), 64) // 0 where it is no number
			e.code = int64(f)
		case "message":
			e.message = str(value)
		case "data":
			e.data = value
		}
	}) {
		e.message = str(raw)
	}
	return e
}

// Codes of JSON-RPC and of the protocol.
const (
	numberMethodNotFound = -32601
	numberInvalidParams  = -32602
	numberInternal       = -32603
	numberRefused        = -32000
	numberNotFound       = -32002
	numberBadVersion     = -32022
)

// request writes a request, or with id 0 a notification. Empty params are left out.
func request(id int64, method string, params []byte) []byte {
	b := make([]byte, 0, len(params)+len(method)+64)
	b = append(b, `{"jsonrpc":"2.0"`...)
	if id != 0 {
		b = strconv.AppendInt(append(b, `,"id":`...), id, 10)
	}
	b = quote(append(b, `,"method":`...), method)
	if len(params) > 0 {
		b = append(append(b, `,"params":`...), params...)
	}
	return append(b, '}')
}

// reply writes the answer to a request of the server.
func reply(id, result json.RawMessage) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(append(b, `,"result":`...), result...)
	return append(b, '}')
}

// refusal writes an error in place of an answer.
func refusal(id json.RawMessage, code int64, message string) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = strconv.AppendInt(append(b, `,"error":{"code":`...), code, 10)
	return append(quote(append(b, `,"message":`...), message), "}}"...)
}

// fields writes a JSON object member by member.
type fields struct{ text []byte }

func (f *fields) key(name string) {
	if f.text == nil {
		f.text = append(make([]byte, 0, 256), '{')
	} else {
		f.text = append(f.text, ',')
	}
	f.text = append(quote(f.text, name), ':')
}

// raw adds JSON text; nothing where there is none.
func (f *fields) raw(name string, text []byte) {
	if len(text) > 0 {
		f.key(name)
		f.text = append(f.text, text...)
	}
}

func (f *fields) string(name, text string) {
	f.key(name)
	f.text = quote(f.text, text)
}

// end is the object.
func (f *fields) end() []byte {
	if f.text == nil {
		return []byte("{}")
	}
	return append(f.text, '}')
}
