package fakeapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
)

// A client whose connection is reset cannot know whether its request was served.
// Here it was.
func ExampleServer_Inject() {
	srv := example()
	defer srv.Close()
	lost, err := srv.Inject(fakeapi.LoseResponse("create", "configmaps"))
	if err != nil {
		panic(err)
	}

	create := func() {
		resp, err := srv.Client().Post(srv.URL+"/api/v1/namespaces/default/configmaps", "application/json",
			strings.NewReader(`{"metadata":{"name":"settings"}}`))
		if err != nil {
			fmt.Println("an error: try again")
			return
		}
		resp.Body.Close()
		fmt.Println(resp.Status)
	}
	create()
	create()
	fmt.Println("lost:", lost.Hits())
	// Output:
	// an error: try again
	// 409 Conflict
	// lost: 1
}

func ExampleFault() {
	srv := example()
	defer srv.Close()
	_, err := srv.Inject(fakeapi.Fault{
		Verb: "get,list", Resource: "secrets", UserAgent: "shop/*", // matcher
		Skip: 1, Times: 2, // trigger
		Code: http.StatusServiceUnavailable, RetryAfter: 5 * time.Second, // effect
	})
	if err != nil {
		panic(err)
	}

	for range 4 {
		r, _ := http.NewRequest("GET", srv.URL+"/api/v1/secrets", nil)
		r.Header.Set("User-Agent", "shop/v1.2")
		resp, err := srv.Client().Do(r)
		if err != nil {
			panic(err)
		}
		resp.Body.Close()
		fmt.Println(resp.Status, resp.Header["Retry-After"])
	}
	// Output:
	// 200 OK []
	// 503 Service Unavailable [5]
	// 503 Service Unavailable [5]
	// 200 OK []
}

func ExampleParseFaults() {
	faults, err := fakeapi.ParseFaults([]byte(`
- {verb: update, resource: deployments.apps, times: 1, code: 409}
- {resource: pods, watch: expire, watches: new}
- {webhook: "*/validate", delay: 9s, probability: 0.5}
`))
	if err != nil {
		panic(err)
	}
	for _, f := range faults {
		fmt.Println(f)
	}
	// Output:
	// update of deployments.apps: 409, once
	// watch of pods: expire, new watches only
	// webhook */validate: delay of 9s, 50%
}

func ExampleChaos() {
	srv := example()
	defer srv.Close()
	chaos, err := srv.Inject(fakeapi.Chaos(7)...)
	if err != nil {
		panic(err)
	}
	// Run a controller here. Then the faults with their hits are:
	lines := strings.Split(chaos.String(), "\n")
	fmt.Println(lines[5])
	fmt.Println(lines[9])
	// Output:
	// anything: reset, 2%: hit 0 of 0
	// create,update,patch,delete,deletecollection of anything: reset after serving, 2%: hit 0 of 0
}
