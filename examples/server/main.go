// Command server answers the requests of the guide and of the examples on this machine, so that both can
// be tried without the network: go run ./examples/server
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/hukilau/hukilau/examples/server/fruit"
)

func main() {
	address := flag.String("addr", "127.0.0.1:8000", "`address` to listen on")
	flag.Parse()
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s, until Ctrl-C\n", listener.Addr())
	server := &http.Server{Handler: fruit.New(), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.Serve(listener))
}
