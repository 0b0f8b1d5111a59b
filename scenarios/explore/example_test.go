package explore_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// The program creates a ConfigMap whenever it starts. The server generates the name, so a
// second start creates a second one. In a test, call Run, which is faster: its runs take
// no real time.
func ExampleSearch() {
	report, err := explore.Search(context.Background(), explore.System{
		Options: []fakeapi.Option{fakeapi.WithInMemory()},
		Start: func(ctx context.Context, srv *fakeapi.Server) error {
			body := strings.NewReader(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"run-"}}`)
			_, err := srv.Client().Post(srv.URL+"/api/v1/namespaces/default/configmaps", "application/json", body)
			return err
		},
		Pace: explore.Pace{Quiet: 50 * time.Millisecond, Hold: 50 * time.Millisecond, Restart: time.Millisecond},
	})
	if err != nil {
		panic(err)
	}
	finding := report.Findings[0]
	fmt.Println(finding.Violation)
	fmt.Println(finding.Plan)
	// Output:
	// end-state: configmaps default/run-*: 2 exist in the end, 1 in the reference run
	// crash-after at the 1st create of configmaps default by Go-http-client/1.1
}

// Exceptions and actions say what a system is allowed to do.
func ExampleSystem() {
	system := explore.System{
		Start: func(ctx context.Context, srv *fakeapi.Server) error {
			<-ctx.Done()
			return nil
		},
		Workload: explore.Steps(10*time.Second,
			func(srv *fakeapi.Server) error {
				_, err := srv.Store(`{apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, name: settings}}`)
				return err
			},
			func(srv *fakeapi.Server) error { return srv.Remove("configmaps", "default", "settings") },
		),
		Invariants: []explore.Invariant{explore.CEL("pods", `object.spec.containers.size() == 1`)},
		Ignore: []explore.Exception{
			{Oracle: explore.EndState, Resource: "widgets.*", Field: "status.restarts", Reason: "it counts restarts"},
		},
		Actions: []explore.Action{explore.Crash, explore.Hold},
	}
	fmt.Println(len(system.Ignore), "exception")
	// Output: 1 exception
}
