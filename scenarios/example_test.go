package scenarios_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/scenarios"
)

// The result of a scenario with wrong wants lists the differences.
func ExamplePlayer() {
	f, err := scenarios.Parse("example", []byte(`
area: demo
name: labels
steps:
- store: {apiVersion: v1, kind: Node, metadata: {name: a, labels: {zone: east}}}
- name: nodes of the west
  do: GET /api/v1/nodes?labelSelector=zone%3Dwest
  only: [items]
  want: {body: {items: []}}
- name: nodes of the east
  do: GET /api/v1/nodes?labelSelector=zone%3Deast
  only: [items.0.metadata.name, items.0.metadata.uid]
  want: {body: {items.0.metadata.name: b, items.0.metadata.uid: <uid:1>}}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	srv, err := fakeapi.New(fakeapi.WithInMemory())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	p := &scenarios.Player{URL: srv.URL, Transport: srv.Transport()}
	for _, s := range f.Scenarios {
		fmt.Println(p.Play(context.Background(), s))
	}
	// Output:
	// demo/labels
	//   example:10: step 2 (nodes of the east)
	//     body.items.0.metadata.name: want "b", got "a"
	//     sent GET /api/v1/nodes?labelSelector=zone%3Deast
}

// The changes of a history are made at their times. With a manual clock, a scenario
// of an hour takes no time.
func ExamplePlayer_history() {
	f, err := scenarios.Parse("example", []byte(`
name: nodes come and go
history:
- store: {apiVersion: v1, kind: Node, metadata: {name: a}}
- at: 20m
  store: {apiVersion: v1, kind: Node, metadata: {name: b}}
- at: 40m
  remove: {apiVersion: v1, kind: Node, metadata: {name: a}}
steps:
- at: 30m
  do: GET /api/v1/nodes
  only: [items.0.metadata.name, items.1.metadata.name]
  want: {body: {items.0.metadata.name: a, items.1.metadata.name: b}}
- at: 1h
  do: GET /api/v1/nodes
  only: [items.0.metadata.name, items.1]
  want: {body: {items.0.metadata.name: b, items.1: <absent>}}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithManualClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	r := (&scenarios.Player{URL: srv.URL, Transport: srv.Transport()}).Play(context.Background(), f.Scenarios[0])
	fmt.Println(r.Failed(), srv.Clock().Now())
	// Output: false 2026-01-01 01:00:00 +0000 UTC
}

// A replayer answers a client with the recorded answers of a scenario.
func ExampleNewReplayer() {
	f, err := scenarios.Parse("example", []byte(`
name: a client asks for the version
steps:
- do: GET /version
  want: {headers: {Content-Type: application/json}, body: {gitVersion: v1.99.0}}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	replayer, err := scenarios.NewReplayer(f.Scenarios[0], func(problem string) { fmt.Println(problem) })
	if err != nil {
		fmt.Println(err)
		return
	}
	srv, err := httptest.Start(replayer, httptest.Options{InMemory: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	for _, path := range []string{"/versions", "/version"} {
		resp, err := srv.Client().Get(srv.URL + path)
		if err != nil {
			fmt.Println(err)
			return
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			fmt.Println(strings.TrimSpace(string(b)))
		}
	}
	// Output:
	// unexpected request: GET /versions
	//   the most similar step is 0, GET /version
	//     path: want /version, got /versions
	// {"gitVersion":"v1.99.0"}
}
