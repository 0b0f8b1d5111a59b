//go:build go1.24

package manifests_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/manifests"
)

// states returns each result with its state, its changes and its findings in lines.
func states(results []*manifests.Result) string {
	var b strings.Builder
	for _, r := range results {
		name := r.Name
		if r.Namespace != "" && r.Namespace != "default" {
			name = r.Namespace + "/" + name
		}
		fmt.Fprintf(&b, "%s %s %s\n", r.State, r.Kind, name)
		for _, a := range r.Answers {
			for _, c := range a.Changes {
				fmt.Fprintf(&b, "  %s: %v -> %v\n", c.Path, c.Old, c.New)
			}
		}
		for _, f := range r.Findings {
			fmt.Fprintf(&b, "  %s:%d: %s: %s\n", r.File, f.Line, f.Severity, f.Message)
		}
	}
	return b.String()
}

// updated returns the results of an input that updates a base.
func updated(t *testing.T, c manifests.Config, base, input string) []*manifests.Result {
	t.Helper()
	c.Files = fstest.MapFS{"base.yaml": {Data: []byte(base)}, "input.yaml": {Data: []byte(input)}}
	c.Base = "base.yaml"
	return results(t, c, "input.yaml")
}

// widgets defines a kind of which a property has a schema.
func widgets(name, schema string) string {
	return `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string}, ` + name + `: ` + schema + `}}}}}
---
`
}

// policy denies ConfigMaps for which an expression is false.
func policy(expression string) string {
	return `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]}
  validations: [{expression: ` + strconv.Quote(expression) + `, message: denied}]
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: p}, spec: {policyName: p, validationActions: [Deny]}}
---
`
}

const (
	mapA = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: '1'}}\n---\n"
	mapB = "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {x: '1'}}\n---\n"
)

func TestBase(t *testing.T) {
	deployment := "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: %d, selector: {matchLabels: {app: %[2]s}}, template: {metadata: {labels: {app: %[2]s}}, spec: {containers: [{name: a, image: '%s'}, {name: b, image: b}]}}}}\n"
	claim := "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {storageClassName: s, accessModes: [ReadWriteOnce], resources: {requests: {storage: %s}}}}\n"
	class := "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, provisioner: p, allowVolumeExpansion: true}\n---\n"
	widget := "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {%s}}\n"
	for _, row := range []struct{ name, base, input, want string }{
		{"created, changed, unchanged and kept", mapA + mapB + "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}", `
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {x: '1'}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {a.b/c: d}}, data: {z: '2'}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: d}}
`, `unchanged ConfigMap b
changed ConfigMap a
  data.x: 1 -> <nil>
  data.z: <nil> -> 2
  metadata.labels: <nil> -> map[a.b/c:d]
created ConfigMap d
kept ConfigMap c
`},
		{"elements of lists have names, and defaults do not change", fmt.Sprintf(deployment, 1, "a", "a:1"), fmt.Sprintf(deployment, 2, "a", "a:2"), `changed Deployment a
  spec.replicas: 1 -> 2
  spec.template.spec.containers[name=a].image: a:1 -> a:2
`},
		{"immutable field", fmt.Sprintf(deployment, 1, "a", "a"), fmt.Sprintf(deployment, 1, "b", "a"), `refused Deployment a
  input.yaml:1: error: spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable
`},
		{"values of Secrets are hidden", "{apiVersion: v1, kind: Secret, metadata: {name: a, labels: {a: b}}, stringData: {a: b}}", "{apiVersion: v1, kind: Secret, metadata: {name: a, labels: {a: c}}, stringData: {a: c, d: e}}", `changed Secret a
  data.a: (hidden) -> (hidden)
  data.d: <nil> -> (hidden)
  metadata.labels.a: b -> c
`},
		{"a claim that shrinks", class + fmt.Sprintf(claim, "2Gi"), class + fmt.Sprintf(claim, "1Gi"), `unchanged StorageClass s
refused PersistentVolumeClaim a
  input.yaml:3: error: spec.resources.requests.storage: Forbidden: field can not be less than status.capacity
`},
		{"a claim that grows", class + fmt.Sprintf(claim, "2Gi"), class + fmt.Sprintf(claim, "3Gi"), `unchanged StorageClass s
changed PersistentVolumeClaim a
  spec.resources.requests.storage: 2Gi -> 3Gi
`},
		{"a transition rule", widgets("size", "{type: integer, x-kubernetes-validations: [{rule: self >= oldSelf, message: shrinks}]}") + fmt.Sprintf(widget, "size: 3"),
			fmt.Sprintf(widget, "size: 2"), `refused Widget a
  input.yaml:1: error: spec.size: Invalid value: 2: shrinks
kept CustomResourceDefinition widgets.example.com
`},
		{"a stricter definition accepts what does not change", widgets("size", "{type: integer}") + fmt.Sprintf(widget, "size: 3"),
			widgets("size", "{type: integer, maximum: 2}") + fmt.Sprintf(widget, "size: 3, a: b"), `changed CustomResourceDefinition widgets.example.com
  spec.versions[name=v1].schema.openAPIV3Schema.properties.spec.properties.size.maximum: <nil> -> 2
changed Widget a
  spec.a: <nil> -> b
  input.yaml:15: warning: accepted only because it does not change: spec.size: Invalid value: 3: spec.size in body should be less than or equal to 2
`},
		{"a stricter definition refuses what changes", widgets("size", "{type: integer}") + fmt.Sprintf(widget, "size: 3"),
			widgets("size", "{type: integer, maximum: 2}") + fmt.Sprintf(widget, "size: 4"), `changed CustomResourceDefinition widgets.example.com
  spec.versions[name=v1].schema.openAPIV3Schema.properties.spec.properties.size.maximum: <nil> -> 2
refused Widget a
  input.yaml:15: error: spec.size: Invalid value: 4: spec.size in body should be less than or equal to 2
`},
		{"a stricter definition and a kept object", widgets("size", "{type: integer}") + fmt.Sprintf(widget, "size: 3"),
			widgets("size", "{type: integer, maximum: 2}"), `changed CustomResourceDefinition widgets.example.com
  spec.versions[name=v1].schema.openAPIV3Schema.properties.spec.properties.size.maximum: <nil> -> 2
kept Widget a
  base.yaml:15: warning: accepted only because it does not change: spec.size: Invalid value: 3: spec.size in body should be less than or equal to 2
`},
		{"a new policy", mapA + mapB, policy("object.data.x != '1'") + mapA, `created ValidatingAdmissionPolicy p
created ValidatingAdmissionPolicyBinding p
refused ConfigMap a
  input.yaml:11: error: configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: denied
  input.yaml:11: note: the object is that of the base: the rest of the input or the state makes the server refuse it
refused ConfigMap b
  base.yaml:3: error: no longer valid: configmaps "b" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: denied
`},
		{"a policy of the base with oldObject", policy("oldObject == null || object.data.x == oldObject.data.x") + mapA, strings.Replace(mapA, "'1'", "'2'", 1), `refused ConfigMap a
  input.yaml:1: error: configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: denied
kept ValidatingAdmissionPolicy p
kept ValidatingAdmissionPolicyBinding p
`},
		{"objects that are older than a policy of the base", policy("object.data.x != '1'") + mapA + mapB, policy("object.data.x != '1'") + strings.Replace(mapA, "'1'", "'2'", 1), `unchanged ValidatingAdmissionPolicy p
unchanged ValidatingAdmissionPolicyBinding p
changed ConfigMap a
  data.x: 1 -> 2
kept ConfigMap b
`},
		{"an object that the server refuses is not in the base", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, immutable: yes, data: {'x y': z}}", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: z}}", `created ConfigMap a
  input.yaml:1: note: the object of the base is refused, so that a cluster does not have it: ConfigMap "a" is invalid: data[x y]: Invalid value: "x y": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')
`},
		{"a quota counts the base", "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {configmaps: '1'}}}\n---\n" + mapA, mapA + mapB, `unchanged ConfigMap a
refused ConfigMap b
  input.yaml:3: error: configmaps "b" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1
kept ResourceQuota q
`},
		{"a definition that is no longer served", widgets("size", "{type: integer}") + fmt.Sprintf(widget, "size: 3"),
			strings.Replace(strings.Replace(widgets("size", "{type: integer}"), "- name: v1", "- name: v2", 1), "v1}}}}", "v2", 1), `refused CustomResourceDefinition widgets.example.com
  input.yaml:2: error: status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions
kept Widget a
`},
		{"a namespace that no document of the base has", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}", "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}", `created Namespace shop
kept ConfigMap shop/a
`},
		{"levels of PodSecurity do not refuse objects of the base", `
{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: baseline}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {hostNetwork: true, containers: [{name: a, image: a}]}}
`, `
{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: restricted}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, labels: {a: b}}, spec: {hostNetwork: true, containers: [{name: a, image: a}]}}
`, `changed Namespace shop
  metadata.labels["pod-security.kubernetes.io/enforce"]: baseline -> restricted
  input.yaml:2: warning: existing pods in namespace "shop" violate the new PodSecurity enforce level "restricted:latest"
  input.yaml:2: warning: a: host namespaces, allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile
changed Pod shop/a
  metadata.labels: <nil> -> map[a:b]
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, states(updated(t, manifests.Config{}, row.base, row.input)))
		})
	}
}

func TestPrune(t *testing.T) {
	owned := "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: %s, uid: u}]%s}}\n---\n"
	for _, row := range []struct{ name, prune, base, input, want string }{
		{"an object", "Background", mapA + mapB, mapA, "unchanged ConfigMap a\ngone ConfigMap b\n"},
		{"finalizers", "Background", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, finalizers: [example.com/a, example.com/b]}}", mapB, `created ConfigMap b
gone ConfigMap a
  base.yaml:1: note: it stays until these finalizers are removed: example.com/a, example.com/b
`},
		{"dependents", "Background", mapA + fmt.Sprintf(owned, "b", "a", "") + fmt.Sprintf(owned, "c", "b", "") + fmt.Sprintf(owned, "d", "a", ", finalizers: [example.com/a]"), fmt.Sprintf(owned, "c", "b", ""), `unchanged ConfigMap c
gone ConfigMap a
  base.yaml:1: warning: its deletion also deletes what the input has: ConfigMap default/c
  base.yaml:1: note: its deletion also deletes ConfigMap default/b
  base.yaml:1: note: its deletion also deletes, after their finalizers, ConfigMap default/d
gone ConfigMap b
  base.yaml:3: warning: its deletion also deletes what the input has: ConfigMap default/c
gone ConfigMap d
  base.yaml:7: note: it stays until these finalizers are removed: example.com/a
`},
		{"orphans", "Orphan", mapA + fmt.Sprintf(owned, "b", "a", ""), fmt.Sprintf(owned, "b", "a", ""), `unchanged ConfigMap b
gone ConfigMap a
  base.yaml:1: note: they lose it as their owner: ConfigMap default/b
`},
		{"a namespace takes its content", "Background", "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: shop, finalizers: [example.com/a]}}",
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}", `unchanged ConfigMap shop/a
gone Namespace shop
  base.yaml:1: warning: its deletion also deletes what the input has: ConfigMap shop/a
  base.yaml:1: note: its deletion also deletes, after their finalizers, ConfigMap shop/b
  base.yaml:1: note: it stays until these finalizers are removed: kubernetes; Some resources are remaining: configmaps. has 1 resource instances; Some content in the namespace has finalizers remaining: example.com/a in 1 resource instances
gone ConfigMap shop/b
  base.yaml:5: note: it stays until these finalizers are removed: example.com/a
`},
		{"a definition takes its objects", "Foreground", widgets("size", "{type: integer}") + "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}}", mapA, `created ConfigMap a
gone CustomResourceDefinition widgets.example.com
  base.yaml:2: note: its deletion also deletes Widget default/a
gone Widget a
`},
		{"a policy refuses a deletion", "Background", policy("request.operation != \"DELETE\"") + mapA, policy("request.operation != \"DELETE\""), `unchanged ValidatingAdmissionPolicy p
unchanged ValidatingAdmissionPolicyBinding p
refused ConfigMap a
  base.yaml:11: error: the deletion is refused: configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: denied
`},
		{"a namespace that cannot be deleted", "Background", "{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}", mapA, `created ConfigMap a
refused Namespace kube-system
  base.yaml:1: error: the deletion is refused: namespaces "kube-system" is forbidden: this namespace may not be deleted
`},
		{"nothing is deleted if the input cannot be read", "Background", mapA, mapB + "kind: [", `created ConfigMap b
  
  input.yaml:3: error: yaml: line 3: did not find expected node content
kept ConfigMap a
`},
		{"a claim that no Pod uses", "Background", "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}", mapA, "created ConfigMap a\ngone PersistentVolumeClaim a\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, states(updated(t, manifests.Config{Prune: row.prune}, row.base, row.input)))
		})
	}
}

// An object with managedFields comes from a cluster: it keeps its UID, its status and its managers.
func TestBaseOfCluster(t *testing.T) {
	base := `
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  uid: 12345678-1234-1234-1234-123456789012
  resourceVersion: "7"
  managedFields:
  - {manager: kubectl, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:x": {}, "f:z": {}}}}
  - {manager: other, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:o": {}}}}
data: {x: "1", z: "1", o: "1"}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: 12345678-1234-1234-1234-123456789012}]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c, uid: 12345678-1234-1234-1234-123456789013, resourceVersion: "8", creationTimestamp: "2026-01-02T03:04:05Z"}}
`
	assert.Equal(t, `changed ConfigMap a
  data.x: 1 -> 2
  data.z: 1 -> <nil>
refused ConfigMap a
  input.yaml:3: error: Apply failed with 1 conflict: conflict with "other" using v1: .data.o
  input.yaml:3: warning: the same object is at input.yaml:1; the last one that is written stays
kept ConfigMap b
kept ConfigMap c
`, states(updated(t, manifests.Config{}, base, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: "2"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {o: "2"}}
`)))
	assert.Equal(t, `gone ConfigMap a
  base.yaml:2: note: its deletion also deletes ConfigMap default/b
gone ConfigMap b
`, states(updated(t, manifests.Config{Prune: "Background"}, base, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}`))[len("unchanged ConfigMap c\n"):])
}

// Objects of kinds that are skipped are in the base, but have no state.
func TestBaseSkips(t *testing.T) {
	got := updated(t, manifests.Config{Skip: []string{"ConfigMap"}, Prune: "Background"}, mapA+mapB+"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}]}}", mapA)
	assert.Equal(t, " ConfigMap a\ngone Service a\n", states(got))
}

// The answers of several releases may have several states.
func TestBaseWithReleases(t *testing.T) {
	widget := "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: a, labels: {a: %s}}, spec: {selectors: []}}"
	got := updated(t, manifests.Config{Releases: []string{"1.33", "1.36"}}, fmt.Sprintf(widget, "b"), fmt.Sprintf(widget, "c"))
	require.Len(t, got, 1)
	assert.Equal(t, manifests.Changed, got[0].State)
	assert.Equal(t, manifests.State(""), got[0].Answers[0].State)
	assert.Equal(t, manifests.Changed, got[0].Answers[1].State)
}

// A conversion webhook that is not called changes neither a definition nor its objects.
func TestBaseWithConversion(t *testing.T) {
	text := `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  conversion:
    strategy: Webhook
    webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: a, namespace: b}}}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
---
{apiVersion: example.com/v1beta1, kind: Widget, metadata: {name: a}}
`
	assert.Equal(t, "unchanged CustomResourceDefinition widgets.example.com\nunchanged Widget a\n", states(updated(t, manifests.Config{}, text, text)))
}

// repository makes a git repository with a commit the working directory of the test, and returns a
// function that runs git.
func repository(t *testing.T, files map[string]string) (git func(args ...string)) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	git = func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	git("init", "-q", "-b", "main", ".")
	writeFiles(t, files)
	git("add", ".")
	git("commit", "-q", "-m", "base")
	return git
}

// writeFiles writes files below the working directory.
func writeFiles(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
}

// The base is what the paths are at a revision.
func TestBaseOfRevision(t *testing.T) {
	repository(t, map[string]string{"deploy/a.yaml": mapA, "deploy/sub/b.yaml": mapB, "deploy/notes.txt": "text", "other/c.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}"})
	require.NoError(t, os.Remove("deploy/sub/b.yaml"))
	writeFiles(t, map[string]string{"deploy/a.yaml": strings.Replace(mapA, "'1'", "'2'", 1), "new/d.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: d}}"})
	want := `changed ConfigMap a
  data.x: 1 -> 2
kept ConfigMap b
`
	c := manifests.Config{Base: "git:main"}
	assert.Equal(t, want, states(results(t, c, "deploy")))
	assert.Equal(t, " main:deploy/sub/b.yaml", files(results(t, c, "deploy"))[len("deploy/a.yaml"):])
	assert.Equal(t, want[:len(want)-len("kept ConfigMap b\n")], states(results(t, c, "deploy/*.yaml")))
	absolute, err := filepath.Abs("deploy")
	require.NoError(t, err)
	assert.Equal(t, want, states(results(t, c, absolute)))
	t.Chdir("deploy")
	assert.Equal(t, want, states(results(t, manifests.Config{Base: "git:HEAD"}, ".")))
	assert.Equal(t, `  
  HEAD:../new:0: note: the revision does not have it
unchanged ConfigMap c
created ConfigMap d
`, states(results(t, manifests.Config{Base: "git:HEAD"}, "../other/c.yaml", "../new")))
}

// Links of a revision are followed, and a loop of links ends.
func TestBaseOfRevisionWithLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Symlink("a", "link"); err != nil {
		t.Skip(err)
	}
	git := repository(t, map[string]string{"common/b.yaml": mapB, "deploy/a.yaml": mapA})
	require.NoError(t, os.Symlink("../common", "deploy/common"))
	require.NoError(t, os.Symlink("../deploy", "deploy/loop"))
	require.NoError(t, os.Symlink("/nowhere", "deploy/dangling"))
	git("add", ".")
	git("commit", "-q", "-m", "links")
	assert.Equal(t, "unchanged ConfigMap a\nunchanged ConfigMap b\n", states(results(t, manifests.Config{Base: "git:HEAD"}, "deploy")))
}

// files returns the files of results.
func files(results []*manifests.Result) string {
	var names []string
	for _, r := range results {
		names = append(names, r.File)
	}
	return strings.Join(names, " ")
}

func TestBadBase(t *testing.T) {
	repository(t, map[string]string{"deploy/a.yaml": mapA, "empty/README.md": ""})
	dir, err := os.Getwd()
	require.NoError(t, err)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for _, row := range []struct {
		name   string
		config manifests.Config
		path   string
		want   string
	}{
		{"an unknown revision", manifests.Config{Base: "git:origin/main"}, "deploy", `the base git:origin/main: the git repository ` + dir + ` has no revision "origin/main"`},
		{"a revision like a flag", manifests.Config{Base: "git:--all"}, "deploy", `the base git:--all: the git repository ` + dir + ` has no revision "--all"`},
		{"the standard input", manifests.Config{Base: "git:main"}, "-", "the base git:main: the standard input is not in a revision; a file with what it was then can be the base"},
		{"a path outside", manifests.Config{Base: "git:main"}, "..", "the base git:main: .. is not in the git repository " + dir},
		{"a file that does not exist", manifests.Config{Base: "none.yaml"}, "deploy", "the base: none.yaml: no such file or directory"},
		{"a folder without objects", manifests.Config{Base: "empty"}, "deploy", "the base: empty: the folder has no .yaml, .yml or .json file"},
		{"the input", manifests.Config{Base: "deploy/"}, "./deploy", "the base deploy/ is the input too: nothing would change"},
		{"the standard input as base", manifests.Config{Base: "-"}, "deploy", "the base cannot be the standard input"},
		{"create", manifests.Config{Base: "git:main", Create: true}, "deploy", "Create and Base exclude each other: the objects of the base exist"},
		{"prune without a base", manifests.Config{Prune: "Orphan"}, "deploy", "Prune needs a Base"},
		{"prune in another case", manifests.Config{Base: "git:main", Prune: "orphan"}, "deploy", `Prune "orphan" is not Background, Foreground or Orphan`},
	} {
		t.Run(row.name, func(t *testing.T) {
			for r, err := range manifests.Validate(context.Background(), row.config, row.path) {
				assert.Nil(t, r)
				require.ErrorIs(t, err, fakeapi.ErrInvalidOption)
				assert.Contains(t, err.Error(), row.want)
			}
		})
	}
	t.Run("not a repository", func(t *testing.T) {
		t.Chdir(t.TempDir())
		writeFiles(t, map[string]string{"a.yaml": mapA})
		for _, err := range manifests.Validate(context.Background(), manifests.Config{Base: "git:main"}, "a.yaml") {
			assert.ErrorContains(t, err, "the base git:main: not a git repository")
		}
	})
}

// A base with documents that cannot be parsed is one without their objects.
func TestBrokenBase(t *testing.T) {
	assert.Equal(t, `  
  base.yaml:4: warning: yaml: line 4: did not find expected ',' or '}'
created ConfigMap b
kept ConfigMap a
`, states(updated(t, manifests.Config{}, mapA+"kind: ConfigMap\nmetadata: {name: b\n", mapB)))
}

func TestDiff(t *testing.T) {
	old := map[string]any{
		"metadata": map[string]any{"resourceVersion": "1", "labels": map[string]any{"a.b": "c"}},
		"spec":     map[string]any{"a": nil, "list": []any{map[string]any{"name": "a", "x": 1.0}, map[string]any{"name": "b"}}, "plain": []any{1.0}},
	}
	new := map[string]any{
		"metadata": map[string]any{"resourceVersion": "2"},
		"spec":     map[string]any{"list": []any{map[string]any{"name": "b"}, map[string]any{"name": "c"}, map[string]any{"name": "a", "x": 2.0}}, "plain": []any{2.0}},
	}
	assert.Equal(t, []manifests.Change{
		{Path: "metadata.labels", Old: map[string]any{"a.b": "c"}},
		{Path: "spec.list[name=a].x", Old: 1.0, New: 2.0},
		{Path: "spec.list[name=c]", New: map[string]any{"name": "c"}},
		{Path: "spec.plain", Old: []any{1.0}, New: []any{2.0}},
	}, manifests.Diff(old, new))
	swapped := map[string]any{"list": []any{map[string]any{"name": "b"}, map[string]any{"name": "a"}}}
	assert.Len(t, manifests.Diff(map[string]any{"list": []any{map[string]any{"name": "a"}, map[string]any{"name": "b"}}}, swapped), 1, "the order of a list")
	assert.Empty(t, manifests.Diff(old, old))
}
