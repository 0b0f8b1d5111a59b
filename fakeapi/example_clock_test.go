package fakeapi_test

import (
	"fmt"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// Ten minutes on a manual clock: a watch cache that lags by two minutes, Events that
// expire after five, and history that is kept for seven.
func ExampleClock_Advance() {
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithManualClock(time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)),
		fakeapi.WithAPIServer(apiserver.Config{EventTTL: 5 * time.Minute}), fakeapi.WithHistory(fakeapi.History{Age: 7 * time.Minute}), fakeapi.WithObjects(apitest.ConfigMap("a", "old")))
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	if err := srv.SetLag("configmaps", fakeapi.Lag{By: 2 * time.Minute}); err != nil {
		panic(err)
	}
	before := srv.Revision()
	srv.Store(apitest.ConfigMap("a", "new"))
	srv.Store(`{apiVersion: v1, kind: Event, metadata: {name: e}, involvedObject: {namespace: default}}`)
	for range 10 {
		srv.Clock().Advance(time.Minute)
		events, _ := srv.List("events", "")
		_, err := srv.List("configmaps", "", fakeapi.AtRevision(before))
		fmt.Println(srv.Clock().Now().Format("15:04"), ask(srv, "a", "?resourceVersion=0"), len(events), err == nil)
	}
	// Output:
	// 09:01 old 1 true
	// 09:02 new 1 true
	// 09:03 new 1 true
	// 09:04 new 1 true
	// 09:05 new 0 true
	// 09:06 new 0 true
	// 09:07 new 0 false
	// 09:08 new 0 false
	// 09:09 new 0 false
	// 09:10 new 0 false
}
