package requests_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// Two shards divide the namespaces of a new server. Without the gate both have all.
func TestShardedList(t *testing.T) {
	const (
		lower = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')"
		upper = "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')"
	)
	for _, row := range []struct {
		name, path string
		on         bool
		total      int
		info       []any
	}{
		{"lists", "/api/v1/namespaces?limit=500", true, 4, []any{lower, upper}},
		{"custom resources have no shardInfo", "/apis/example.com/v1/things?limit=500", true, 4, []any{nil, nil}},
		{"gate off", "/api/v1/namespaces?limit=500", false, 8, []any{nil, nil}},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithSeed(1), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"ShardedListAndWatch": row.on}}), fakeapi.WithObjects(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: things, kind: Thing}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}}
---
{apiVersion: example.com/v1, kind: Thing, metadata: {name: b}}
---
{apiVersion: example.com/v1, kind: Thing, metadata: {name: c}}
---
{apiVersion: example.com/v1, kind: Thing, metadata: {name: d}}
`))
			total := 0
			var info []any
			for _, selector := range []string{lower, upper} {
				code, list := apitest.Do(t, srv, "GET", row.path+"&shardSelector="+url.QueryEscape(selector), "")
				require.Equal(t, 200, code)
				items := list["items"].([]any)
				total += len(items)
				if row.on {
					assert.NotEmpty(t, items)
				}
				meta := list["metadata"].(map[string]any)
				if shard, ok := meta["shardInfo"].(map[string]any); ok {
					info = append(info, shard["selector"])
				} else {
					info = append(info, nil)
				}
			}
			assert.Equal(t, row.total, total)
			assert.Equal(t, row.info, info)
		})
	}
}

func TestShardSelectorErrors(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"ShardedListAndWatch": true}}))
	for _, row := range []struct{ name, query string }{{"list", ""}, {"watch", "&watch=1"}} {
		t.Run(row.name, func(t *testing.T) {
			code, answer := apitest.Do(t, srv, "GET", "/api/v1/namespaces?shardSelector=true"+row.query, "")
			assert.Equal(t, 500, code)
			assert.Equal(t, "invalid shard selector: unexpected expression kind 5; expected shardRange() call or || operator", answer["message"])
		})
	}
}
