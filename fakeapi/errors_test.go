package fakeapi_test

import (
	"io/fs"
	"net/netip"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/apitest"
)

// Every error that a method documents can be found by errors.Is.
func TestErrors(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
	old := srv.Revision()
	apitest.Put(t, srv, apitest.ConfigMap("a", "2"))
	srv.Compact(0)
	get := func(revision int64) error {
		_, err := srv.Get("configmaps", "default", "a", fakeapi.AtRevision(revision))
		return err
	}
	put := func(object any) error {
		_, err := srv.Store(object)
		return err
	}
	start := func(options ...fakeapi.Option) error {
		s, err := fakeapi.New(append(options, fakeapi.WithInMemory())...)
		if err == nil {
			s.Close()
		}
		return err
	}
	inject := func(f faults.Fault) error {
		_, err := srv.Inject(f)
		return err
	}
	_, unparsed := faults.Parse([]byte("{"))
	faultFiles := func(glob string) error {
		_, err := faults.ParseFiles(fstest.MapFS{"text": {Data: []byte("text")}}, glob)
		return err
	}
	files := fstest.MapFS{"pod.yaml": {Data: []byte("{apiVersion: v1, kind: Pod, metadata: {name: p}}")}, "text": {Data: []byte("text")}}
	for _, row := range []struct {
		name      string
		err, want error
	}{
		{"Get of a compacted revision", get(old), fakeapi.ErrCompacted},
		{"Get of a future revision", get(srv.Revision() + 1), fakeapi.ErrFutureRevision},
		{"Put in an unknown namespace", put("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: none}}"), fakeapi.ErrNotFound},
		{"Put of an unknown kind", put("{apiVersion: v1, kind: None, metadata: {name: a}}"), fakeapi.ErrNotFound},
		{"Put of an invalid object", put("{apiVersion: v1, kind: ConfigMap, metadata: {name: A}}"), fakeapi.ErrInvalidObject},
		{"Put of text", put("text"), fakeapi.ErrInvalidObject},
		{"Delete", srv.Remove("pods", "default", "none"), fakeapi.ErrNotFound},
		{"Delete of an unknown resource", srv.Remove("none", "default", "none"), fakeapi.ErrNotFound},
		{"Inject", inject(faults.Fault{}), faults.ErrInvalid},
		{"faults.Parse", unparsed, faults.ErrInvalid},
		{"SetLag", srv.SetLag("pods", fakeapi.Lag{Until: 1}), fakeapi.ErrInvalidLag},
		{"New with an unknown release", start(fakeapi.WithRelease("v0.1")), fakeapi.ErrInvalidOption},
		{"New with an unknown feature gate", start(fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"None": true}})), fakeapi.ErrInvalidOption},
		{"New with a service range", start(fakeapi.WithAPIServer(apiserver.Config{ServiceClusterIPRanges: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/31")}})), fakeapi.ErrInvalidOption},
		{"New with a negative compaction", start(fakeapi.WithAPIServer(apiserver.Config{CompactionInterval: -time.Second, CompactionKeep: 0})), fakeapi.ErrInvalidOption},
		{"New with a negative history", start(fakeapi.WithHistory(fakeapi.History{Bytes: -1})), fakeapi.ErrInvalidOption},
		{"New with a fault", start(fakeapi.WithFaults(faults.Fault{})), faults.ErrInvalid},
		{"faults.ParseFiles", faultFiles("text"), faults.ErrInvalid},
		{"faults.ParseFiles without a file", faultFiles("*.yaml"), fs.ErrNotExist},
		{"New with an object", start(fakeapi.WithObjects("{apiVersion: v1, kind: None, metadata: {name: a}}")), fakeapi.ErrNotFound},
		{"New with an invalid object", start(fakeapi.WithObjects("text")), fakeapi.ErrInvalidObject},
		{"New with object files", start(fakeapi.WithObjectFiles(files, "text")), fakeapi.ErrInvalidObject},
		{"New without object files", start(fakeapi.WithObjectFiles(files, "none")), fs.ErrNotExist},
		{"New with a Pod as a definition", start(fakeapi.WithCRDs(files, "pod.yaml")), fakeapi.ErrInvalidObject},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.ErrorIs(t, row.err, row.want)
		})
	}
	_, err := fakeapi.New(fakeapi.WithAddress("192.0.2.1:80"))
	assert.ErrorIs(t, err, syscall.EADDRNOTAVAIL)
}
