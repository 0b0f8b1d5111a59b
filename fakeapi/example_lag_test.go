package fakeapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/apitest"
)

// A controller that reads from an informer does not see its own write at once.
func ExampleServer_SetLag() {
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithManualClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)))
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	if err := srv.SetLag("configmaps", fakeapi.Lag{By: 3 * time.Second}); err != nil {
		panic(err)
	}
	srv.Store(apitest.ConfigMap("a", "1"))
	for _, wait := range []time.Duration{0, 2 * time.Second, time.Second} {
		srv.Clock().Advance(wait)
		fmt.Println(ask(srv, "a", "?resourceVersion=0"), "|", ask(srv, "a", ""))
	}
	// Output:
	// configmaps "a" not found | 1
	// configmaps "a" not found | 1
	// 1 | 1
}

// With a lag of one revision, each write is visible after the next one.
func ExampleServer_SetLag_revisions() {
	srv := example()
	defer srv.Close()
	if err := srv.SetLag("*", fakeapi.Lag{Revisions: 1}); err != nil {
		panic(err)
	}
	for _, value := range []string{"1", "2", "3"} {
		srv.Store(apitest.ConfigMap("a", value))
		fmt.Println(ask(srv, "a", "?resourceVersion=0"))
	}
	// Output:
	// configmaps "a" not found
	// 1
	// 2
}

// The end of a lag shows the writes made meanwhile.
func ExampleServer_SetLag_frozen() {
	srv := example(apitest.ConfigMap("a", "1"))
	defer srv.Close()
	if err := srv.SetLag("configmaps", fakeapi.Lag{Frozen: true}); err != nil {
		panic(err)
	}
	srv.Store(apitest.ConfigMap("a", "2"))
	fmt.Println(ask(srv, "a", "?resourceVersion=0"))

	if err := srv.SetLag("configmaps", fakeapi.Lag{}); err != nil {
		panic(err)
	}
	fmt.Println(ask(srv, "a", "?resourceVersion=0"))
	// Output:
	// 1
	// 2
}

func ExampleServer_SetLag_until() {
	srv := example(apitest.ConfigMap("a", "1"))
	defer srv.Close()
	if err := srv.SetLag("configmaps", fakeapi.Lag{Until: srv.Revision() + 1}); err != nil {
		panic(err)
	}
	for _, value := range []string{"2", "3"} {
		srv.Store(apitest.ConfigMap("a", value))
	}
	fmt.Println(ask(srv, "a", "?resourceVersion=0"))
	// Output: 2
}

func ExampleServer_CachedRevision() {
	srv := example()
	defer srv.Close()
	if err := srv.SetLag("configmaps", fakeapi.Lag{Revisions: 2}); err != nil {
		panic(err)
	}
	for _, value := range []string{"1", "2", "3"} {
		srv.Store(apitest.ConfigMap("a", value))
	}
	cached, err := srv.CachedRevision("configmaps")
	fmt.Println(srv.Revision()-cached, err)
	// Output: 2 <nil>
}

// A compaction does not end a watch that has received everything. The fault does.
func ExampleServer_Compact_watches() {
	srv := example(apitest.ConfigMap("a", "1"))
	defer srv.Close()
	resp, err := srv.Client().Get(fmt.Sprintf("%s/api/v1/configmaps?watch=1&resourceVersion=%d", srv.URL, srv.Revision()))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	srv.Compact(0)
	srv.Inject(faults.ExpireOpenWatches("*"))
	var e struct {
		Type   string
		Object struct{ Reason string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&e); err != nil {
		panic(err)
	}
	fmt.Println(e.Type, e.Object.Reason)
	// Output: ERROR Expired
}

func ExampleWithAPIServer() {
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithManualClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)),
		fakeapi.WithAPIServer(apiserver.Config{CompactionInterval: time.Minute, CompactionKeep: 10 * time.Second}), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	old := srv.Revision()
	srv.Store(apitest.ConfigMap("a", "2"))
	for range 2 {
		_, err := srv.List("configmaps", "", fakeapi.AtRevision(old))
		fmt.Println(err == nil)
		srv.Clock().Advance(time.Minute)
	}
	// Output:
	// true
	// false
}

// ask returns the value of a ConfigMap, or the message of the failure.
func ask(srv *fakeapi.Server, name, query string) string {
	resp, err := srv.Client().Get(srv.URL + "/api/v1/namespaces/default/configmaps/" + name + query)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(err)
	}
	var answer struct {
		Data    map[string]string
		Message string
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		panic(err)
	}
	if resp.StatusCode != http.StatusOK {
		return answer.Message
	}
	return answer.Data["key"]
}
