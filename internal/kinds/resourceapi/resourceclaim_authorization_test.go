package resourceapi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

func authorizeAll(verb, subresource, namespace, name string) error { return nil }

func TestAuthorizeClaim(t *testing.T) {
	const (
		allocation = `"allocation":{"nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}}`
		device     = `{"driver":"d","pool":"p","device":"x"}`
		binding    = `status.allocation: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="patch" permission: `
		driver     = `status.devices: Forbidden: changing status.devices requires resource="resourceclaims/driver", verb="[arbitrary-node:patch]" permission: `
	)
	kubelet := resource.Author{User: authn.User{Name: "system:serviceaccount:ns:plugin", Extra: map[string][]string{authn.ExtraNodeName: {"n1"}}}}
	for _, r := range []struct {
		name, now, was string
		author         resource.Author
		may            []string // what is allowed, as "verb subresource namespace/name"
		want           string
	}{
		{name: "nothing changes", now: allocation, was: allocation},
		{name: "allocated", now: allocation, was: ``, want: binding + "no patch binding /"},
		{name: "allocated by a scheduler", now: allocation, was: ``, may: []string{"patch binding /"}},
		{name: "reserved", now: allocation + `,"reservedFor":[{"resource":"pods","name":"p","uid":"u"}]`, was: allocation, want: binding + "no patch binding /"},
		{name: "reported", now: allocation + `,"devices":[` + device + `]`, was: allocation, want: driver + "no arbitrary-node:patch driver ns/d"},
		{name: "reported by its driver", now: allocation + `,"devices":[` + device + `]`, was: allocation, may: []string{"arbitrary-node:patch driver ns/d"}},
		{name: "no more reported", now: allocation, was: allocation + `,"devices":[` + device + `]`, want: driver + "no arbitrary-node:patch driver ns/d"},
		{name: "reported again", now: allocation + `,"devices":[` + device + `]`, was: allocation + `,"devices":[` + device + `]`},
		{name: "reported on the node", now: allocation + `,"devices":[` + device + `]`, was: allocation, author: kubelet, may: []string{"associated-node:patch driver ns/d"}},
		{name: "reported on another node", now: strings.Replace(allocation, "n1", "n2", 1) + `,"devices":[` + device + `]`, was: strings.Replace(allocation, "n1", "n2", 1), author: kubelet,
			may: []string{"associated-node:patch driver ns/d"}, want: driver + "no arbitrary-node:patch driver ns/d"},
	} {
		t.Run(r.name, func(t *testing.T) {
			typ := kindtest.TypeOf(t, "resourceclaims.resource.k8s.io")
			claim := func(status string) map[string]any {
				return kindtest.Decode(t, typ, `{"metadata":{"namespace":"ns"},"status":{`+status+`}}`)
			}
			w := &resource.Write{Object: claim(r.now), Old: object.ViewOf(claim(r.was)), Reader: kindtest.Reader(t), Verb: "patch", Author: r.author,
				Authorize: func(verb, subresource, namespace, name string) error {
					if access := fmt.Sprintf("%s %s %s/%s", verb, subresource, namespace, name); !slices.Contains(r.may, access) {
						return fmt.Errorf("no %s", access)
					}
					return nil
				}}
			assert.Equal(t, r.want, typ.ValidateInNamespace(w).Message())
		})
	}
}

// Releases before v1.36 do not authorize changes of the allocation and of device statuses.
func TestAuthorizeClaimInReleases(t *testing.T) {
	for release, want := range map[string]string{
		"1.35": "",
		"1.36": `status.allocation: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="patch" permission: no`,
	} {
		t.Run(release, func(t *testing.T) {
			typ := kindtest.TypeIn(t, release, "resourceclaims.resource.k8s.io")
			w := &resource.Write{
				Object: kindtest.Decode(t, typ, `{"metadata":{"namespace":"ns"},"status":{"allocation":{}}}`),
				Old:    object.ViewOf(kindtest.Decode(t, typ, `{"metadata":{"namespace":"ns"}}`)),
				Reader: kindtest.Reader(t), Verb: "patch",
				Authorize: func(verb, subresource, namespace, name string) error { return errors.New("no") },
			}
			assert.Equal(t, want, typ.ValidateInNamespace(w).Message())
		})
	}
}
