package main

import (
	"testing"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A server of this project over HTTP answers as package manifests does.
func TestCompare(t *testing.T) {
	srv := fakeapi.Start(t,
		fakeapi.WithToken("admintoken", fakeapi.User{Name: "admin", Groups: []string{"system:masters"}}), fakeapi.WithRBAC(),
		fakeapi.WithAPIServer(apiserver.Config{DisableAdmissionPlugins: []string{"ServiceAccount"}}))
	o := options{real: srv.URL, token: "admintoken", mutations: 20, seed: 1, parallel: 4, patience: time.Nanosecond}
	different, err := o.run(t.Context(), []string{"testdata"})
	require.NoError(t, err)
	assert.Zero(t, different)
}

// A server of another release answers otherwise.
func TestCompareFindsDifferences(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithRelease("1.32"),
		fakeapi.WithToken("admintoken", fakeapi.User{Name: "admin", Groups: []string{"system:masters"}}), fakeapi.WithRBAC(),
		fakeapi.WithAPIServer(apiserver.Config{DisableAdmissionPlugins: []string{"ServiceAccount"}}))
	o := options{real: srv.URL, token: "admintoken", mutations: 20, seed: 1, parallel: 4, patience: time.Nanosecond}
	different, err := o.run(t.Context(), []string{"testdata"})
	require.NoError(t, err)
	assert.NotZero(t, different)
}

// With a base, the states and the changes are compared too.
func TestCompareUpdates(t *testing.T) {
	srv := fakeapi.Start(t,
		fakeapi.WithToken("admintoken", fakeapi.User{Name: "admin", Groups: []string{"system:masters"}}), fakeapi.WithRBAC(),
		fakeapi.WithAPIServer(apiserver.Config{DisableAdmissionPlugins: []string{"ServiceAccount"}}))
	o := options{real: srv.URL, token: "admintoken", base: "testdata/update/before", parallel: 4, patience: time.Nanosecond}
	different, err := o.run(t.Context(), []string{"testdata/update/after"})
	require.NoError(t, err)
	assert.Zero(t, different)
}
