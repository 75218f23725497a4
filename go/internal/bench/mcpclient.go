package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

// The clients of the lines about the gateway write and read by hand, so that they cost next to nothing.

// client calls tools of a server of MCP.
type client interface {
	// call sends one request and gives the whole answer.
	call(method, params string) ([]byte, error)
	// all sends requests at once, and waits for all answers.
	all(method string, params []string) error
}

const greeting = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`

// request is the text of one.
func request(id int, method, params string) []byte {
	line := make([]byte, 0, len(params)+len(method)+64)
	line = strconv.AppendInt(append(line, `{"jsonrpc":"2.0","id":`...), int64(id), 10)
	line = append(append(append(line, `,"method":"`...), method...), `","params":`...)
	return append(append(line, params...), "}\n"...)
}

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// good is the error in an answer, also that of a tool.
func good(answer []byte) error {
	if bytes.Contains(answer, []byte(`"result"`)) && !bytes.Contains(answer, []byte(`"isError":true`)) {
		return nil
	}
	return fmt.Errorf("answered %.500s", answer)
}

// pipes is a client of a process.
type pipes struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	last int
}

// startPipes starts a server, and does not greet it yet.
func startPipes(cmd *exec.Cmd) (*pipes, error) {
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &pipes{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 64<<10)}, cmd.Start()
}

// dial starts a server and shakes hands with it.
func dial(cmd *exec.Cmd) (*pipes, error) {
	p, err := startPipes(cmd)
	if err == nil {
		_, err = p.call("initialize", greeting)
	}
	if err == nil {
		_, err = io.WriteString(p.in, initialized)
	}
	return p, err
}

func (p *pipes) close() {
	_ = p.in.Close()
	_, _ = io.Copy(io.Discard, p.out)
	_ = p.cmd.Wait()
}

// send gives the id of the request.
func (p *pipes) send(method, params string) (int, error) {
	p.last++
	_, err := p.in.Write(request(p.last, method, params))
	return p.last, err
}

// next is the next answer, with its id.
func (p *pipes) next() (id int, answer []byte, err error) {
	for id == 0 && err == nil { // others are notifications
		var line []byte
		for {
			var part []byte
			part, err = p.out.ReadSlice('\n')
			line = append(line, part...)
			if err != bufio.ErrBufferFull {
				break
			}
		}
		answer = line
		_, after, _ := bytes.Cut(line[:min(len(line), 60)], []byte(`"id":`))
		for _, digit := range after {
			if digit < '0' || digit > '9' {
				break
			}
			id = id*10 + int(digit-'0')
		}
	}
	if err == nil {
		err = good(answer)
	}
	return id, answer, err
}

func (p *pipes) call(method, params string) ([]byte, error) {
	if _, err := p.send(method, params); err != nil {
		return nil, err
	}
	_, answer, err := p.next()
	return answer, err
}

func (p *pipes) all(method string, params []string) error {
	var text []byte
	for _, one := range params {
		p.last++
		text = append(text, request(p.last, method, one)...)
	}
	sent := make(chan error, 1)
	go func() { // answers may come before all is sent
		_, err := p.in.Write(text)
		sent <- err
	}()
	for range params {
		if _, _, err := p.next(); err != nil {
			return err
		}
	}
	return <-sent
}

// web is a client over HTTP, in one session, with connections that are kept.
type web struct {
	address, session string
	free             chan *connection // nil is one that is not made yet
}

type connection struct {
	net.Conn
	in *bufio.Reader
}

// mostConnections is how many requests of a web are under way.
const mostConnections = 100

func dialWeb(address string) (*web, error) {
	w := &web{address: address, free: make(chan *connection, mostConnections)}
	for range mostConnections {
		w.free <- nil
	}
	head, answer, err := w.post(request(1, "initialize", greeting))
	if err == nil {
		err = good(answer)
	}
	if err != nil {
		return nil, err
	}
	w.session = head.Get("Mcp-Session-Id")
	_, _, err = w.post([]byte(initialized))
	return w, err
}

func (w *web) post(body []byte) (http.Header, []byte, error) {
	c := <-w.free
	head, answer, err := w.exchange(&c, body)
	if err != nil && c != nil {
		_ = c.Close()
		c = nil
	}
	w.free <- c
	return head, answer, err
}

func (w *web) exchange(c **connection, body []byte) (http.Header, []byte, error) {
	if *c == nil {
		made, err := net.Dial("tcp", w.address)
		if err != nil {
			return nil, nil, err
		}
		*c = &connection{made, bufio.NewReader(made)}
	}
	text := fmt.Appendf(make([]byte, 0, len(body)+400), "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n", w.address, len(body))
	if w.session != "" {
		text = fmt.Appendf(text, "Mcp-Session-Id: %s\r\nMcp-Protocol-Version: 2025-11-25\r\n", w.session)
	}
	if _, err := (*c).Write(append(append(text, "\r\n"...), body...)); err != nil {
		return nil, nil, err
	}
	response, err := http.ReadResponse((*c).in, nil)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %s", response.Status, answer)
	}
	return response.Header, answer, err
}

func (w *web) call(method, params string) ([]byte, error) {
	_, answer, err := w.post(request(2, method, params))
	if err == nil {
		err = good(answer)
	}
	return answer, err
}

func (w *web) all(method string, params []string) error {
	failed := make([]error, len(params))
	var running sync.WaitGroup
	for i, one := range params {
		running.Go(func() {
			_, answer, err := w.post(request(i+2, method, one))
			if err == nil {
				err = good(answer)
			}
			failed[i] = err
		})
	}
	running.Wait()
	return errors.Join(failed...)
}

// close lets go of the connections; the session ends with its server.
func (w *web) close() {
	for range mostConnections {
		if c := <-w.free; c != nil {
			_ = c.Close()
		}
	}
}
