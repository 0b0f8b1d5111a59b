//go:build go1.24

package release_test

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

func TestNames(t *testing.T) {
	names := release.Names()
	assert.Equal(t, []string{
		"v1.32.13", "v1.32.13-all", "v1.33.13", "v1.33.13-all", "v1.34.4", "v1.34.4-all", "v1.35.4", "v1.35.4-all", "v1.36.3", "v1.36.3-all", "v1.37.2", "v1.37.2-all",
	}, names)
	assert.Equal(t, []string{release.Newest, release.Newest + "-all"}, names[len(names)-2:], "the last are of the newest release")
	assert.Contains(t, names, release.Default)
}

func TestOpen(t *testing.T) {
	for name, want := range map[string]string{
		"":            "v1.37.2",
		"v1.36.3":     "v1.36.3",
		"v1.36":       "v1.36.3",
		"1.36":        "v1.36.3",
		"1.36.3":      "v1.36.3",
		"1.36-all":    "v1.36.3-all",
		"v1.36.3-all": "v1.36.3-all",
		"v1.32":       "v1.32.13",
		"1.37":        "v1.37.2",
		"v1.32-all":   "v1.32.13-all",
		"1.35.0":      "v1.35.4",
		"v1.36.99":    "v1.36.3",
		"latest":      "v1.37.2",
		"latest-all":  "v1.37.2-all",

		"v1.36.1-eks-3025e55": "v1.36.3",
		"1.36.1-gke.1081000":  "v1.36.3",
		"v1.36.0+k3s1":        "v1.36.3",
		"v1.36.0-rc.1":        "v1.36.3",
		"v1.36.0-gke.1-all":   "v1.36.3-all",
	} {
		t.Run("name="+name, func(t *testing.T) {
			p, err := release.Open(name)
			require.NoError(t, err)
			assert.Equal(t, want, p.Name())
			again, err := release.Open(want)
			require.NoError(t, err)
			assert.Same(t, p, again)
		})
	}
	for _, name := range []string{"v1.3", "v1", "v", "1.36.4.1", "v1.36.3-al", "newest", "v1.31-all", "-all", "all", "v1.36.3/"} {
		t.Run("unknown="+name, func(t *testing.T) {
			_, err := release.Open(name)
			require.ErrorIs(t, err, release.ErrUnknown)
			assert.ErrorContains(t, err, "there are v1.32.13, ")
		})
	}
	_, err := release.Open("1.53")
	assert.ErrorContains(t, err, "-all; did you mean v1.33 or v1.35?")
}

// TestEveryRelease reads everything that is embedded, so that reading it cannot
// fail later.
func TestEveryRelease(t *testing.T) {
	for _, name := range release.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := release.Open(name)
			require.NoError(t, err)

			var version struct{ Major, Minor, GitVersion string }
			require.NoError(t, json.Unmarshal(p.VersionInfo(), &version))
			assert.Equal(t, p.Version(), version.GitVersion)
			assert.Equal(t, version.Minor, strconv.Itoa(p.Minor()))
			assert.Contains(t, p.Version()+".", "v"+version.Major+"."+version.Minor+".")
			assert.Equal(t, byte('}'), p.VersionInfo()[len(p.VersionInfo())-1], "no newline follows the body")

			served := map[resource.GroupVersion]bool{}
			for _, gv := range p.GroupVersions() {
				assert.False(t, served[gv], "%s is listed twice", gv)
				served[gv] = true
				path := "apis/" + gv.String()
				if gv.Group == "" {
					path = "api/" + gv.Version
				}
				assert.Contains(t, p.OpenAPIPaths(), path)
			}
			scheme := p.SchemeGroupVersions()
			assert.Equal(t, resource.GroupVersion{Version: "v1"}, scheme[0])
			for gv := range served {
				assert.Contains(t, scheme, gv)
			}
			for _, typ := range p.Types() {
				assert.True(t, served[typ.GroupVersion], "%s %s", typ.GroupVersion, typ.Name)
				assert.NotEmpty(t, typ.Verbs)
				assert.Equal(t, typ.Kind+"List", typ.ListKind)
				assert.Equal(t, typ.Allows("watch"), typ.Stored != resource.GroupVersion{}, "%s %s", typ.GroupVersion, typ.Name)
			}
			for _, path := range p.OpenAPIPaths() {
				doc, err := p.OpenAPI(path)
				require.NoError(t, err)
				assert.Equal(t, p.OpenAPIHash(path), fmt.Sprintf("%X", sha512.Sum512(doc)), "%s is not the document that kube-apiserver publishes", path)
				bare, err := p.BareOpenAPI(path)
				require.NoError(t, err)
				assert.True(t, json.Valid(bare), path)
				assert.NotContains(t, string(bare), `"description":"`)
			}
		})
	}
}

func TestSurface(t *testing.T) {
	p, err := release.Open("")
	require.NoError(t, err)
	r := resource.NewTypes(p.Types())

	t.Run("order", func(t *testing.T) {
		gvs := p.GroupVersions()
		assert.Equal(t, "v1 apiregistration.k8s.io/v1 apps/v1 events.k8s.io/v1", fmt.Sprint(gvs[0], gvs[1], gvs[2], gvs[3]))
		assert.Equal(t, "bindings", p.Types()[0].Name)
	})
	t.Run("type", func(t *testing.T) {
		pods := r.Lookup("", "v1", "pods")
		require.NotNil(t, pods)
		assert.True(t, pods.Namespaced)
		assert.Equal(t, []string{"po"}, pods.ShortNames)
		assert.Equal(t, "policy/v1", pods.Subresource("eviction").Kind.GroupVersion.String())
		assert.False(t, r.Lookup("", "v1", "nodes").Namespaced)
	})
	for _, row := range []struct{ group, version, resource, stored string }{
		{"", "v1", "pods", "v1"},
		{"apps", "v1", "deployments", "apps/v1"},
		{"autoscaling", "v1", "horizontalpodautoscalers", "autoscaling/v2"},
		{"autoscaling", "v2", "horizontalpodautoscalers", "autoscaling/v2"},
		{"events.k8s.io", "v1", "events", "v1"},
		{"apiextensions.k8s.io", "v1", "customresourcedefinitions", "apiextensions.k8s.io/v1beta1"},
		{"authorization.k8s.io", "v1", "subjectaccessreviews", ""},
		{"", "v1", "bindings", ""},
	} {
		t.Run("stored/"+row.group+"/"+row.version+"/"+row.resource, func(t *testing.T) {
			assert.Equal(t, row.stored, r.Lookup(row.group, row.version, row.resource).Stored.String())
		})
	}
}

func TestOpenAPI(t *testing.T) {
	p, err := release.Open("")
	require.NoError(t, err)
	_, err = p.OpenAPI("apis/nope/v1")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.Empty(t, p.OpenAPIHash("apis/nope/v1"))

	a, err := p.OpenAPI("version")
	require.NoError(t, err)
	b, err := p.OpenAPI("version")
	require.NoError(t, err)
	a[0] = 'x'
	assert.Equal(t, byte('{'), b[0], "each call returns new bytes")
}

func BenchmarkOpenAPI(b *testing.B) {
	p, err := release.Open("")
	require.NoError(b, err)
	for _, path := range []string{"version", "apis/apps/v1", "api/v1"} {
		for name, read := range map[string]func(string) ([]byte, error){"described": p.OpenAPI, "bare": p.BareOpenAPI} {
			b.Run("path="+path+"/"+name, func(b *testing.B) {
				doc, err := read(path)
				require.NoError(b, err)
				b.SetBytes(int64(len(doc)))
				for b.Loop() {
					if _, err := read(path); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func ExampleOpen() {
	p, err := release.Open("1.36")
	if err != nil {
		panic(err)
	}
	fmt.Println(p.Name())
	for _, t := range p.Types() {
		if t.Name == "deployments" {
			fmt.Println(t.GroupVersion, t.Kind, t.Verbs)
		}
	}
	// Output:
	// v1.36.3
	// apps/v1 Deployment [create delete deletecollection get list patch update watch]
}

// TestNewestStored compares NewestStored with the types of the newest release with all its
// gates.
func TestNewestStored(t *testing.T) {
	newest, err := release.Open(release.Newest + "-all")
	require.NoError(t, err)
	newest, err = newest.WithGates(map[string]bool{"AllAlpha": true, "AllBeta": true})
	require.NoError(t, err)
	type stored struct {
		status.GroupResource
		resource.GroupVersion
	}
	var want, got []stored
	for _, typ := range newest.Types() {
		want = append(want, stored{status.GroupResource{Group: typ.Group, Resource: typ.Name}, typ.Stored})
	}
	for r, gv := range release.NewestStored() {
		got = append(got, stored{r, gv})
	}
	assert.Equal(t, want, got)
}
