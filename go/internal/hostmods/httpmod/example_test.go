package httpmod_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
)

func ExampleClient_Do() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "hello")
	}))
	defer server.Close()

	client, err := httpmod.New(httpmod.Options{Policy: httpmod.Policy{
		Net:        []string{"*.example.com"},
		NetPrivate: []string{strings.TrimPrefix(server.URL, "http://")},
	}})
	if err != nil {
		panic(err)
	}
	defer client.CloseIdle()

	resp, err := client.Do(context.Background(), &httpmod.Request{URL: server.URL})
	if err != nil {
		panic(err)
	}
	defer resp.Release()
	fmt.Println(resp.Status, string(resp.Body))

	_, err = client.Do(context.Background(), &httpmod.Request{URL: "http://169.254.169.254/latest"})
	var refused *httpmod.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Code, refused.Key)
		fmt.Println(refused)
	}
	// Output:
	// 200 hello
	// permission net_private
	// GET http://169.254.169.254/latest: no permission to reach 169.254.169.254 on port 80 (it is a link-local address); to allow it, add "169.254.169.254" to net_private (on the command line: --allow-net-private=169.254.169.254)
}
