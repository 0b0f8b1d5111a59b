//go:build go1.25

package fakeapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
)

// Ten minutes in a testing/synctest bubble take milliseconds: time advances as soon
// as all goroutines wait. The server uses the time of the bubble. It needs the
// in-memory transport, because sockets are not part of a bubble.
func Example_bubble() {
	var t *testing.T // that of the test
	synctest.Test(t, tenMinutes)
}

func tenMinutes(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	if err := srv.SetLag("configmaps", fakeapi.Lag{By: 90 * time.Second}); err != nil {
		t.Fatal(err)
	}
	resp, err := srv.Client().Get(fmt.Sprintf(
		"%s/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=%d&allowWatchBookmarks=true&timeoutSeconds=600",
		srv.URL, srv.Revision()))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()

	// A writer writes every three minutes.
	began := time.Now()
	go func() {
		for _, value := range []string{"1", "2", "3"} {
			time.Sleep(3 * time.Minute)
			srv.Store(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {key: "` + value + `"}}`)
		}
	}()

	// A watch receives each write 90 seconds later, and a bookmark every minute, until
	// it times out.
	var seen []string
	for in := bufio.NewReader(resp.Body); ; {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		var e struct {
			Type   string
			Object struct{ Data map[string]string }
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if e.Type != "BOOKMARK" {
			seen = append(seen, fmt.Sprint(time.Since(began), " ", e.Type, " ", e.Object.Data["key"]))
		}
	}
	seen = append(seen, fmt.Sprint(time.Since(began), " end"))
	want := []string{"4m30s ADDED 1", "7m30s MODIFIED 2", "10m0s end"}
	if !slices.Equal(want, seen) {
		t.Errorf("%q, not %q", seen, want)
	}
}
