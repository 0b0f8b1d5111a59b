package fakeapi_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubefake/kubefake/fakeapi"
)

// A server of the shape of a cluster that fakeapi record --profile has recorded.
func ExampleWithProfileFile() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "mycluster.profile")
	err = os.WriteFile(file, []byte(`
fakeapiProfile: 1
version: v1.34.2
release: v1.34.4
objects:
- {apiVersion: v1, kind: Namespace, metadata: {name: team, labels: {tier: gold}}}
`), 0o600)
	if err != nil {
		panic(err)
	}
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithProfileFile(file))
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	_, err = srv.Get("namespaces", "", "team")
	fmt.Println(srv.Release(), err)
	// Output: v1.34.4 <nil>
}
