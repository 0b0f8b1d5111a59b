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

// A server that visits maps in random order has several answers.
func TestOneOf(t *testing.T) {
	const typed = "failed to create typed patch object (/a; v1, Kind=A): "
	one, other := answer{code: 500, message: typed + ".a: undeclared"}, answer{code: 500, message: typed + "errors:\n  .b.c: undeclared\n  .d: undeclared\n"}
	for _, row := range []struct {
		name string
		all  []answer
		ours answer
		want bool
	}{
		{"an error of each", []answer{one, other}, answer{code: 500, message: typed + "errors:\n  .a: undeclared\n  .d: undeclared\n"}, true},
		{"an error of none", []answer{one, other}, answer{code: 500, message: typed + ".x: undeclared"}, false},
		{"without an error of all", []answer{other, other}, answer{code: 500, message: typed + ".d: undeclared"}, false},
		{"another code", []answer{one, other}, answer{code: 422, message: one.message}, false},
	} {
		t.Run(row.name, func(t *testing.T) { assert.Equal(t, row.want, oneOf(row.all, row.ours)) })
	}
}
