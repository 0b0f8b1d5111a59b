package registry

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/patch"
)

// A twin creates the same objects in two registries. One gets bodies that differ in their space,
// so that it finds no prototypes.
type twin struct {
	shares, decodes *client
	bodies          int
}

func newTwin(t *testing.T) *twin {
	config := fixture{seed: 1, clock: clock.NewManual(time.Unix(1e9, 0))}
	return &twin{shares: &client{Registry: fresh(t, config)}, decodes: &client{Registry: fresh(t, config)}}
}

// run calls fn for both registries, and checks that it returns the same, with the same warnings.
func (tw *twin) run(t *testing.T, fn func(c *client) (Result, error)) {
	t.Helper()
	show := func(c *client) (shown string) {
		c.warnings = nil
		result, err := fn(c)
		if result.Object != nil {
			shown = string(result.Object.JSON())
		}
		return fmt.Sprint(shown, err, c.warnings)
	}
	assert.Equal(t, show(tw.decodes), show(tw.shares))
}

// create creates an object of a resource from its metadata and its other members.
func (tw *twin) create(t *testing.T, resource, metadata, members string) {
	t.Helper()
	tw.bodies++
	tw.run(t, func(c *client) (Result, error) {
		body := `{"metadata":` + metadata + `,` + members + `}`
		if c == tw.decodes {
			body = strings.ReplaceAll(body, `{"`, `{`+strings.Repeat(" ", tw.bodies)+`"`)
		}
		return c.Create(context.Background(), c.request(t, resource, ""), Body{Format: codec.JSON, Data: []byte(body)}, &WriteOptions{})
	})
}

// patch patches an object with a merge patch, and then with a strategic one.
func (tw *twin) patch(t *testing.T, resource, name, subresource, body string) {
	t.Helper()
	for _, typ := range []string{patch.MergeType, patch.StrategicType} {
		tw.run(t, func(c *client) (Result, error) {
			r := c.request(t, resource, name)
			r.Subresource = subresource
			return c.Patch(context.Background(), r, Patch{Type: typ, Data: []byte(body)}, &WriteOptions{})
		})
	}
}

const template = `"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}]}]}}`

// TestPrototypes checks that objects which have members in common are those that a registry makes
// without prototypes.
func TestPrototypes(t *testing.T) {
	const podSpec = `"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"0.5"}},"env":[{"name":"A","value":"1"}]}],`
	for _, test := range []struct {
		name, resource, members string
		prepares                bool // each object anew
	}{
		{"a pod", "pods", podSpec + `"resources":{"limits":{"memory":"1Gi"}}},"status":{}`, false},
		{"a pod with empty maps", "pods", `"spec":{"nodeSelector":{},"containers":[{"name":"c","image":"i","resources":{"limits":{}}}]}`, false},
		{"a pod whose labels change its spec", "pods", podSpec + `"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
			{"topologyKey":"k","labelSelector":{},"matchLabelKeys":["app"]}]}}},"status":{}`, true},
		{"a pod whose condition has a time", "pods", podSpec + `"schedulingGates":[{"name":"g"}]}`, true},
		{"a node", "nodes", `"spec":{"podCIDR":"10.0.0.0/24"},"status":{"capacity":{"cpu":"1"}}`, false},
		{"a node that gets its last default when it is stored", "nodes", `"spec":{},"status":{"capacity":{"cpu":"1"},"allocatable":{}}`, true},
		{"a deployment", "deployments.apps", `"spec":{"selector":{"matchLabels":{"app":"a"}},` + template + `},"status":{}`, false},
		{"a replica set", "replicasets.apps", `"spec":{"selector":{"matchLabels":{"app":"a"}},` + template + `}`, false},
		{"a daemon set", "daemonsets.apps", `"spec":{"selector":{"matchLabels":{"app":"a"}},` + template + `}`, true},
		{"a stateful set", "statefulsets.apps", `"spec":{"serviceName":"s","selector":{"matchLabels":{"app":"a"}},` + template + `,
			"volumeClaimTemplates":[{"metadata":{"name":"v"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]}`, false},
	} {
		resource, members := test.resource, test.members
		t.Run(test.name, func(t *testing.T) {
			tw := newTwin(t)
			for i := range 3 {
				tw.create(t, resource, fmt.Sprintf(`{"name":"a%d"}`, i), members)
			}
			typ := tw.shares.follower.Surface().Find(resource)
			all := tw.shares.prototypes.of(typ).all
			require.Len(t, all, 1)
			assert.True(t, all[0].body.IsComplete())
			assert.Equal(t, test.prepares, all[0].admitted == nil)
			for _, row := range []struct{ name, metadata string }{
				{"labels", `{"name":"b","labels":{"app":"b"}}`},
				{"a warning about the name", `{"name":"b.c"}`},
				{"an invalid name", `{"name":"B"}`},
				{"an existing name", `{"name":"a0"}`},
				{"an invalid annotation", `{"name":"c","annotations":{"kubernetes.io/config.mirror":"m","controller.kubernetes.io/pod-deletion-cost":"x"}}`},
				{"an annotation that sets a field", `{"name":"d","annotations":{"container.apparmor.security.beta.kubernetes.io/c":"unconfined"}}`},
				{"a deprecated annotation", `{"name":"e","annotations":{"scheduler.alpha.kubernetes.io/critical-pod":"","seccomp.security.alpha.kubernetes.io/pod":"runtime/default"}}`},
				{"a generated name", `{"generateName":"f-"}`},
				{"as before", `{"name":"g"}`},
			} {
				t.Run(row.name, func(t *testing.T) { tw.create(t, resource, row.metadata, members) })
			}
			for i, body := range []string{
				`{"metadata":{"annotations":{"a":"b"}}}`,
				`{"metadata":{"annotations":{"kubernetes.io/config.mirror":"m"}}}`,
				`{"spec":{"containers":[{"name":"c","image":"j"}],"replicas":2,"unschedulable":true}}`,
				`{"metadata":{"labels":{"c":"d"}},"spec":{"hostNetwork":true}}`,
				`{"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{}}}]}}`,
			} {
				tw.patch(t, resource, "a0", "", body)
				tw.patch(t, resource, fmt.Sprintf("a%d", i%3), "status", `{"status":{"phase":"Running","replicas":1}}`)
			}
			tw.create(t, resource, `{"name":"h"}`, members)
		})
	}
}

// TestPrototypesAndAdmission checks that a plugin which sets other values than before sets them in
// objects with a prototype too, and in no others.
func TestPrototypesAndAdmission(t *testing.T) {
	const members = `"spec":{"containers":[{"name":"c","image":"i"}],"nodeName":"n"}`
	tw := newTwin(t)
	for i := range 3 {
		tw.create(t, "pods", fmt.Sprintf(`{"name":"a%d"}`, i), members)
	}
	tw.create(t, "priorityclasses.scheduling.k8s.io", `{"name":"p"}`, `"value":7,"globalDefault":true`)
	tw.create(t, "limitranges", `{"name":"l"}`, `"spec":{"limits":[{"type":"Container","default":{"cpu":"2"},"defaultRequest":{"cpu":"1"}}]}`)
	for i := range 3 {
		tw.create(t, "pods", fmt.Sprintf(`{"name":"b%d"}`, i), members)
	}
	tw.run(t, func(c *client) (Result, error) {
		return c.Delete(context.Background(), c.request(t, "limitranges", "l"), &DeleteOptions{})
	})
	tw.create(t, "pods", `{"name":"c"}`, members)
	tw.patch(t, "pods", "a1", "", `{"metadata":{"annotations":{"a":"b"}}}`)
}

// TestPrototypesConcurrently creates and changes objects with a prototype at the same time. The
// race detector finds writes to what they share.
func TestPrototypesConcurrently(t *testing.T) {
	c := fresh(t, fixture{})
	const body = `{"metadata":{"generateName":"a-"},"spec":{"selector":{"matchLabels":{"app":"a"}},"containers":[{"name":"c","image":"i"}],` + template + `}}`
	r := map[string]Request{}
	for _, resource := range []string{"pods", "deployments.apps"} {
		r[resource] = (&client{Registry: c}).request(t, resource, "")
	}
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for _, request := range r {
				request.Warnings = nil
				for range 8 {
					created, err := c.Create(context.Background(), request, Body{Format: codec.JSON, Data: []byte(body)}, &WriteOptions{})
					if !assert.NoError(t, err) {
						return
					}
					request := request
					request.Name = created.Object.Name
					for _, body := range []string{`{"metadata":{"labels":{"a":"b"}}}`, `{"metadata":{"annotations":{"a":"b"}}}`} {
						_, err := c.Patch(context.Background(), request, Patch{Type: patch.MergeType, Data: []byte(body)}, &WriteOptions{})
						assert.NoError(t, err)
					}
				}
			}
		}()
	}
	all.Wait()
}
