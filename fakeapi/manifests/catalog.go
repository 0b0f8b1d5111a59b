package manifests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// catalogLayouts are the layouts of a folder of JSON schemas, as templates of kubeconform.
var catalogLayouts = []string{
	"{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json",
	"{{.ResourceKind}}{{.KindSuffix}}.json",
	"{{.ResourceKind}}_{{.ResourceAPIVersion}}.json",
}

// A catalog has JSON schemas of kinds in files, whose names templates describe.
type catalog struct {
	fsys      fs.FS
	templates []string
}

// isTemplateOfNames reports whether a path is a template of the names of schemas.
func isTemplateOfNames(p string) bool { return strings.Contains(p, "{{") }

// newCatalog returns the catalog of the paths of Config.CRDs that are templates or folders.
func (r *reader) newCatalog(paths []string) *catalog {
	c := &catalog{fsys: r.fsys}
	for _, p := range paths {
		if isTemplateOfNames(p) {
			c.templates = append(c.templates, p)
			continue
		}
		if info, err := fs.Stat(r.fsys, p); err == nil && info.IsDir() {
			for _, layout := range catalogLayouts {
				c.templates = append(c.templates, path.Join(p, layout))
			}
		}
	}
	return c
}

// templateVariable matches a variable of a template.
var templateVariable = regexp.MustCompile(`\{\{ *\.(\w+) *\}\}`)

// find returns the schema of a kind, and the name of its file. It returns "" for one that the catalog
// does not have.
func (c *catalog) find(apiVersion, kind, release string) (name string, schema map[string]any, err error) {
	group, version, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return "", nil, nil
	}
	label, _, _ := strings.Cut(group, ".")
	values := map[string]string{
		"Group": group, "ResourceKind": strings.ToLower(kind), "ResourceAPIVersion": version,
		"KindSuffix":                  "-" + strings.ToLower(label) + "-" + strings.ToLower(version),
		"NormalizedKubernetesVersion": release, "StrictSuffix": "-strict",
	}
	for _, t := range c.templates {
		name = templateVariable.ReplaceAllStringFunc(t, func(v string) string {
			return values[templateVariable.FindStringSubmatch(v)[1]]
		})
		text, err := fs.ReadFile(c.fsys, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(text, &schema)
		}
		if err == nil && schema["kind"] != nil && schema["apiVersion"] != nil {
			continue // an object, such as a CustomResourceDefinition
		}
		return name, schema, err
	}
	return "", nil, nil
}

// A kindVersion is a version of a kind that a schema of a catalog defines.
type kindVersion struct {
	name   string
	schema map[string]any
}

// define serves a kind by its schema in the catalog. It reports whether the catalog has one.
func (t *target) define(ctx context.Context, apiVersion, kind string) (bool, error) {
	file, schema, err := t.catalog.find(apiVersion, kind, t.srv.Release())
	if err != nil || file == "" {
		return false, err
	}
	group, version, _ := strings.Cut(apiVersion, "/")
	key := group + "/" + kind
	if t.defined == nil {
		t.defined = map[string][]kindVersion{}
	}
	t.defined[key] = append(t.defined[key], kindVersion{version, schema})
	var refused string
	for _, c := range []schemaConverter{{root: schema}, {root: schema, plain: true}} {
		if refused = t.applyDefinition(ctx, group, kind, t.defined[key], c); refused == "" {
			delete(t.versions, apiVersion)
			return true, nil
		}
	}
	return false, fmt.Errorf("%s: %s", file, refused)
}

// applyDefinition applies the CustomResourceDefinition of a kind. It returns why the server refuses
// it. The names in URLs and the scope are not in schemas, and do not matter.
func (t *target) applyDefinition(ctx context.Context, group, kind string, versions []kindVersion, c schemaConverter) string {
	plural := strings.ToLower(kind) + "s"
	name := plural + "." + group
	list := make([]any, len(versions))
	for i, v := range versions {
		c.root = v.schema
		list[i] = map[string]any{
			"name": v.name, "served": true, "storage": i == 0,
			"schema": map[string]any{"openAPIV3Schema": c.object(v.schema)},
		}
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": name, "annotations": map[string]any{"api-approved.kubernetes.io": "https://github.com/kubernetes/enhancements"}},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced", "versions": list,
			"names": map[string]any{"kind": kind, "plural": plural, "singular": strings.ToLower(kind)},
		},
	})
	if err != nil {
		return err.Error()
	}
	reply := t.replyOf(t.send(ctx, &request{
		method: http.MethodPatch, path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + name,
		query: url.Values{"fieldManager": {"kubectl"}, "force": {"true"}}, contentType: "application/apply-patch+yaml", body: body,
	}))
	if reply.Code >= 300 {
		return reply.Message
	}
	return ""
}
