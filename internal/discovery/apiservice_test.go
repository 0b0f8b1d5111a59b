package discovery

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/resource"
)

func gv(text string) resource.GroupVersion {
	group, version, _ := strings.Cut(text, "/")
	return resource.GroupVersion{Group: group, Version: version}
}

// names returns groups with their versions; "*" follows those of other servers.
func names(groups []group) string {
	var out []string
	for _, g := range groups {
		text := g.name
		for _, v := range g.versions {
			text += " " + v.Version
			if v.remote != nil {
				text += "*"
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func TestGroupsOfAPIServices(t *testing.T) {
	remote := func(text string, group, version int64) APIService {
		return APIService{gv(text), group, version, &Remote{}}
	}
	apps := APIService{gv("apps/v1"), 17800, 15, nil}
	batch := APIService{gv("batch/v1"), 17400, 15, nil}
	for _, row := range []struct {
		name        string
		custom      []string
		apiServices []APIService
		want        string
		plain       string // if it is not want
	}{
		{"none is remote", []string{"b/v1", "a/v1"}, nil, "apiregistration.k8s.io v1, apps v1, batch v1, a v1, b v1", ""},
		{"highest group", nil, []APIService{remote("x/v1", 20000, 1)}, "apiregistration.k8s.io v1, x v1*, apps v1, batch v1", ""},
		{"between", nil, []APIService{remote("x/v1", 17500, 1)}, "apiregistration.k8s.io v1, apps v1, x v1*, batch v1", ""},
		{"highest of several priorities", nil, []APIService{remote("x/v1", 1, 1), remote("x/v2", 17500, 1)}, "apiregistration.k8s.io v1, apps v1, x v2* v1*, batch v1", ""},
		{"lowest group", []string{"a/v1"}, []APIService{remote("x/v1", 1, 1)}, "apiregistration.k8s.io v1, apps v1, batch v1, a v1, x v1*", ""},
		{"priorities of versions", nil, []APIService{remote("x/v1", 1, 2), remote("x/v1alpha1", 1, 1), remote("x/v1alpha2", 1, 3)},
			"apiregistration.k8s.io v1, apps v1, batch v1, x v1alpha2* v1* v1alpha1*", ""},
		{"names of versions", nil, []APIService{remote("x/v1alpha1", 1, 1), remote("x/v1", 1, 1), remote("x/v1beta1", 1, 1), remote("x/v2", 1, 1)},
			"apiregistration.k8s.io v1, apps v1, batch v1, x v2* v1* v1beta1* v1alpha1*", ""},
		{"in a group of definitions", []string{"x/v2", "x/v1"}, []APIService{remote("x/v1", 1000, 100), remote("x/v3", 1000, 101)},
			"apiregistration.k8s.io v1, apps v1, batch v1, x v3* v2 v1*", ""},
		{"in place of a built-in one", nil, []APIService{remote("batch/v1", 17400, 15)}, "apiregistration.k8s.io v1, apps v1, batch v1*", ""},
		{"same priority", []string{"b/v1"}, []APIService{remote("a/v2", 1000, 1)}, "apiregistration.k8s.io v1, apps v1, batch v1, a v2*, b v1", "apiregistration.k8s.io v1, apps v1, batch v1, b v1, a v2*"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := Surface{Builtin: []resource.GroupVersion{gv("apiregistration.k8s.io/v1"), gv("apps/v1"), gv("batch/v1")}}
			for _, c := range row.custom {
				s.Custom = append(s.Custom, gv(c))
			}
			if row.apiServices != nil {
				s.APIServices = append([]APIService{apps, batch}, row.apiServices...)
			}
			aggregated, plain := s.groups()
			assert.Equal(t, row.want, names(aggregated))
			if row.plain == "" {
				row.plain = row.want
			}
			assert.Equal(t, row.plain, names(plain))
		})
	}
}

func TestParseResourceList(t *testing.T) {
	for _, row := range []struct {
		name, body, want, err string
	}{
		{"resource and subresource", `{"kind":"APIResourceList","resources":[
			{"name":"roses/status","namespaced":true,"kind":"Rose","verbs":["get"]},
			{"name":"roses","singularName":"rose","namespaced":true,"kind":"Rose","group":"g","version":"v","verbs":["list"],"shortNames":["r"],"categories":["all"]}]}`,
			`{"version":"v1","resources":[{"resource":"roses","responseKind":{"group":"g","version":"v","kind":"Rose"},"scope":"Namespaced","singularResource":"rose","verbs":["list"],` +
				`"shortNames":["r"],"categories":["all"],"subresources":[{"subresource":"status","responseKind":{"group":"","version":"","kind":"Rose"},"verbs":["get"]}]}],"freshness":"Current"}`, ""},
		{"subresource without a resource", `{"kind":"APIResourceList","resources":[{"name":"roses/scent","verbs":["get"]}]}`,
			`{"version":"v1","resources":[{"resource":"roses","responseKind":{"group":"","version":"","kind":""},"scope":"Cluster","singularResource":"","verbs":null,` +
				`"subresources":[{"subresource":"scent","responseKind":{"group":"","version":"","kind":""},"verbs":["get"]}]}],"freshness":"Current"}`, ""},
		{"other scope", `{"kind":"APIResourceList","resources":[{"name":"roses"},{"name":"roses/scent","namespaced":true}]}`, "", "the scopes of roses and of its subresource scent differ"},
		{"other kind", `{"kind":"Status"}`, "", `the document is of kind "Status", not APIResourceList`},
		{"no JSON", ``, "", "unexpected end of JSON input"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := ParseResourceList([]byte(row.body))
			if row.err != "" {
				assert.EqualError(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.JSONEq(t, row.want, string(encode(got.describe("v1"))))
		})
	}
}
