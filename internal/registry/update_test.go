package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/codec"
)

// update replaces an object, or what a subresource shows of it, by the stored one with changes:
// pairs of texts and what takes their place. One registry gets a body in which nothing has the
// text that it has in the stored object.
func (tw *twin) update(t *testing.T, resource, name, subresource string, changes ...string) {
	t.Helper()
	tw.run(t, func(c *client) (Result, error) {
		r := c.request(t, resource, name)
		stored := c.store.Newest(r.Type.Key(r.Namespace, name))
		require.NotNil(t, stored)
		body := strings.NewReplacer(changes...).Replace(string(stored.JSON()))
		if c == tw.decodes {
			var spaced bytes.Buffer
			require.NoError(t, json.Indent(&spaced, []byte(body), "", " "))
			body = spaced.String()
		}
		r.Subresource = subresource
		return c.Update(context.Background(), r, Body{Format: codec.JSON, Data: []byte(body)}, &WriteOptions{})
	})
}

// TestUpdateShares checks that an update whose body has much of the stored text is one that has
// nothing of it.
func TestUpdateShares(t *testing.T) {
	label := []string{`"metadata":{`, `"metadata":{"labels":{"a":"b"},`}
	for resource, row := range map[string]struct {
		members string
		spec    []string // a change of the spec
		invalid []string // one that is refused
		status  []string // one of the status
	}{
		"pods": {
			`"spec":{"containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running"}`,
			[]string{`"image":"i"`, `"image":"j"`}, []string{`"name":"c"`, `"name":"d"`}, []string{`"phase":"Pending"`, `"phase":"Running"`},
		},
		"nodes": {
			`"spec":{"podCIDR":"10.0.0.0/24"},"status":{"capacity":{"cpu":"1"}}`,
			[]string{`"spec":{`, `"spec":{"unschedulable":true,`}, []string{`10.0.0.0/24`, `10.1.0.0/24`}, []string{`"cpu":"1"`, `"cpu":"2"`},
		},
		"deployments.apps": {
			`"spec":{"selector":{"matchLabels":{"app":"a"}},` + template + `}`,
			[]string{`"replicas":1`, `"replicas":2`}, []string{`"replicas":1`, `"replicas":-1`}, []string{`"status":{}`, `"status":{"observedGeneration":1}`},
		},
		"services": {
			`"spec":{"ports":[{"port":80}],"selector":{"a":"b"}}`,
			[]string{`"port":80`, `"port":81`}, []string{`"port":80`, `"port":0`}, []string{`"loadBalancer":{}`, `"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}`},
		},
		"configmaps": {
			`"data":{"a":"` + strings.Repeat("a", 600) + `"},"immutable":false`,
			[]string{`"data":{`, `"data":{"b":"c",`}, []string{`"data":{`, `"data":{"/":"c",`}, nil,
		},
		"horizontalpodautoscalers.autoscaling": {
			`"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"` + strings.Repeat("a", 200) + `","apiVersion":"apps/v1"}}`,
			[]string{`"maxReplicas":3`, `"maxReplicas":4`}, []string{`"maxReplicas":3`, `"maxReplicas":0`}, []string{`"currentReplicas":0`, `"currentReplicas":1`},
		},
	} {
		t.Run(resource, func(t *testing.T) {
			tw := newTwin(t)
			tw.create(t, resource, `{"name":"a"}`, row.members)
			for range 2 {
				tw.update(t, resource, "a", "")
				tw.update(t, resource, "a", "", label...)
				tw.update(t, resource, "a", "", row.spec...)
				tw.update(t, resource, "a", "", row.invalid...)
				tw.update(t, resource, "a", "", row.status...)
				tw.update(t, resource, "a", "", slices.Concat(label, row.spec, row.status)...)
				tw.update(t, resource, "a", "", `"name":"a"`, `"name":"b"`)
				tw.update(t, resource, "a", "", `"metadata":{`, `"metadata":{"bogus":1,`)
				tw.update(t, resource, "a", "", `"uid":"`, `"uid":"0`)
				tw.update(t, resource, "a", "", `"resourceVersion":"`, `"resourceVersion":"9`)
				tw.update(t, resource, "a", "", `"metadata":{`, `"status":{},"metadata":{`) // comes twice
				if row.status != nil {
					tw.update(t, resource, "a", "status", row.status...)
					tw.update(t, resource, "a", "status", row.spec...)
					tw.update(t, resource, "a", "status", label...)
				}
			}
		})
	}
}
