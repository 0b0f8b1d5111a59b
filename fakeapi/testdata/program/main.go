// Program starts a server without options, for TestLink.
package main

import "github.com/kubefake/kubefake/fakeapi"

func main() {
	srv, err := fakeapi.New()
	if err != nil {
		panic(err)
	}
	srv.Close()
}
