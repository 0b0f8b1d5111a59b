package fakeapi_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/apitest"
)

func TestOptionString(t *testing.T) {
	for want, option := range map[string]fakeapi.Option{
		`WithRBAC()`:                              fakeapi.WithRBAC(),
		`WithRelease("1.35")`:                     fakeapi.WithRelease("1.35"),
		`WithNamespaces()`:                        fakeapi.WithNamespaces(),
		`WithSeed(7)`:                             fakeapi.WithSeed(7),
		`WithPace(2ms)`:                           fakeapi.WithPace(2 * time.Millisecond),
		`WithControllers("a b")`:                  fakeapi.WithControllers("a b"),
		`WithManualClock(2030-01-02T03:04:05Z)`:   fakeapi.WithManualClock(apitest.Epoch),
		`WithHistory(fakeapi.History{Age: 1m0s})`: fakeapi.WithHistory(fakeapi.History{Age: time.Minute}),
		`WithToken("...", fakeapi.User{Name: "alice", Groups: {"a", "b"}})`: fakeapi.WithToken("secret", fakeapi.User{Name: "alice", Groups: []string{"a", "b"}}),
		`WithObjects(string, fakeapi.Object)`:                               fakeapi.WithObjects("{kind: Secret}", apitest.ConfigMap("a", "1")),
		`WithState(*strings.Reader)`:                                        fakeapi.WithState(strings.NewReader("")),
		`WithCRDs(os.dirFS("config"), "a.yaml", "b.yaml")`:                  fakeapi.WithCRDs(os.DirFS("config"), "a.yaml", "b.yaml"),
		`WithObjectFiles(fstest.MapFS, "*")`:                                fakeapi.WithObjectFiles(fstest.MapFS{"a": {}}, "*"),
		`WithFaults(update,patch of pods: 409, once)`:                       fakeapi.WithFaults(faults.ConflictOnce("pods")),
		`WithProcess("manager", func(os.Signal) error)`:                     fakeapi.WithProcess("manager", func(os.Signal) error { return nil }),
		`WithAPIServer(apiserver.Config{FeatureGates: map[A:true B:false], Key: []byte, Files: &apiserver.Files{ClientCA: "ca.crt"}})`: fakeapi.WithAPIServer(apiserver.Config{
			FeatureGates: map[string]bool{"B": false, "A": true}, Key: []byte("secret"), Files: &apiserver.Files{ClientCA: "ca.crt"},
		}),
	} {
		assert.Equal(t, want, fmt.Sprint(option))
	}
}
