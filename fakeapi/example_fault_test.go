package fakeapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kubefake/kubefake/fakeapi/faults"
)

// A client whose connection is reset cannot know whether its request was served.
// Here it was.
func ExampleServer_Inject() {
	srv := example()
	defer srv.Close()
	lost, err := srv.Inject(faults.LoseResponse("create", "configmaps"))
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
	_, err := srv.Inject(faults.Fault{
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
