package fakeapi_test

import (
	"fmt"

	"github.com/kubefake/kubefake/fakeapi"
)

func ExampleServer_Upgrade() {
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithRelease("v1.33"), fakeapi.WithObjects(`
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: default}
`))
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	if err := srv.Upgrade("v1.36"); err != nil {
		panic(err)
	}
	settings, err := srv.Get("configmaps", "default", "settings")
	fmt.Println(srv.Release(), settings["kind"], err)
	// Output: v1.36.3 ConfigMap <nil>
}
