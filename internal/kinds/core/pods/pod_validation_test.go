package pods_test

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/validation"
)

// The errors and warnings that kube-apiserver v1.37.2 returned for Pods, one case a
// line: newpods.jsonl for creates, changedpods.jsonl for updates of a Pod or of one of
// its subresources.
var (
	//go:embed testdata/newpods.jsonl
	newPods []byte
	//go:embed testdata/changedpods.jsonl
	changedPods []byte
)

type podRow struct {
	Name             string
	Pod, Old, New    json.RawMessage
	Subresource      string
	Errors, Warnings []string
}

func podRows(t *testing.T, data []byte) (rows []podRow) {
	t.Helper()
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data))
	for lines.Scan() {
		var r podRow
		require.NoError(t, json.Unmarshal(lines.Bytes(), &r))
		rows = append(rows, r)
	}
	require.NotEmpty(t, rows)
	return rows
}

// texts returns the error texts, sorted, because the order of some of
// kube-apiserver's errors is random.
func texts(list validation.List) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = e.Error()
	}
	slices.Sort(out)
	return out
}

func sorted(s []string) []string {
	s = append([]string{}, s...)
	slices.Sort(s)
	return s
}

func TestValidateNewPods(t *testing.T) {
	typ := kindtest.TypeOf(t, "pods")
	for _, r := range podRows(t, newPods) {
		t.Run(r.Name, func(t *testing.T) {
			warnings := typ.WarningsBeforeCreate(kindtest.Decode(t, typ, string(r.Pod)))
			pod := kindtest.Create(t, typ, string(r.Pod))
			before := object.Copy(pod)
			assert.Equal(t, sorted(r.Errors), texts(typ.Validate(pod, object.View{})))
			if len(r.Errors) == 0 {
				assert.Equal(t, r.Warnings, slices.Concat(warnings, typ.WarningsOnWrite(pod, object.View{})))
			}
			assert.Equal(t, before, pod, "validation must not change the object")
		})
	}
}

func TestValidateChangedPods(t *testing.T) {
	typ := kindtest.TypeOf(t, "pods")
	for _, r := range podRows(t, changedPods) {
		t.Run(r.Name, func(t *testing.T) {
			admitted := func(body json.RawMessage, old map[string]any) map[string]any {
				pod := kindtest.Decode(t, typ, string(body))
				object.Set(pod, "2024-01-02T03:04:05Z", "metadata", "creationTimestamp")
				object.Set(pod, "u", "metadata", "uid")
				admit(pod, old)
				return pod
			}
			old := admitted(r.Old, nil)
			typ.Prepare(old, object.View{})
			pod := admitted(r.New, old)
			if r.Subresource != "status" {
				pod["status"] = object.Copy(old["status"])
			}
			var errs validation.List
			switch r.Subresource {
			case "":
				typ.Prepare(pod, object.ViewOf(old))
				errs = typ.Validate(pod, object.ViewOf(old))
			case "status":
				typ.SubresourceStrategies["status"].Prepare(pod, object.ViewOf(old))
				errs = typ.SubresourceStrategies["status"].Validate(pod, object.ViewOf(old))
			default:
				sub := typ.SubresourceStrategies[r.Subresource]
				sub.Prepare(pod, object.ViewOf(old))
				errs = sub.Validate(pod, object.ViewOf(old))
			}
			assert.Equal(t, sorted(r.Errors), texts(errs))
		})
	}
}

// The difference that a forbidden update shows has no empty list of init containers, as their
// images are put in place of the new ones. Other empty lists it has.
func TestForbiddenUpdateWithEmptyLists(t *testing.T) {
	typ := kindtest.TypeOf(t, "pods")
	old := kindtest.Create(t, typ, kindtest.Pod("", ""))
	pod := kindtest.Decode(t, typ, kindtest.Pod("", `"initContainers":[],"volumes":[],"nodeSelector":{"a":"b"}`))
	pod["metadata"] = object.Copy(old["metadata"])
	errs := strings.Join(texts(typ.Validate(pod, object.ViewOf(old))), "\n")
	assert.Contains(t, errs, `+ "Volumes": []`)
	assert.NotContains(t, errs, `+ "InitContainers"`)
}

// admit sets the defaults of the admission plugins Priority and
// DefaultTolerationSeconds, which the recorded requests passed.
func admit(pod, old map[string]any) {
	spec := object.Map(pod, "spec")
	if old != nil {
		kind.CopyMissing(spec, object.ViewOf(object.Map(old, "spec")), "priority", "preemptionPolicy")
	} else {
		object.SetDefault(spec, "priority", int64(0))
		object.SetDefault(spec, "preemptionPolicy", "PreemptLowerPriority")
	}
	for _, key := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
		tolerations := object.List(spec, "tolerations")
		hasKey := func(t any) bool { m, _ := t.(map[string]any); return m["key"] == key }
		if !slices.ContainsFunc(tolerations, hasKey) {
			spec["tolerations"] = append(tolerations, map[string]any{"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": int64(300)})
		}
	}
}

// TestValidatePodTemplates covers the differences between templates and Pods.
func TestValidatePodTemplates(t *testing.T) {
	typ := kindtest.TypeOf(t, "podtemplates")
	const annotations = `"metadata":{"annotations":{"scheduler.alpha.kubernetes.io/critical-pod":"","container.apparmor.security.beta.kubernetes.io/c":"unconfined"}},`
	for _, r := range []struct {
		name, template   string
		errors, warnings []string
	}{
		{"padded image", `"spec":{"containers":[{"name":"c","image":" i "}]}`, nil, nil},
		{"image volume without reference", `"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","image":{}}]}`, nil, nil},
		{"token without an account", `"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}]}`, nil, nil},
		{"host network", `"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"i","ports":[{"containerPort":1},{"containerPort":2,"hostPort":3}]}]}`,
			[]string{"template.spec.containers[0].ports[1].hostPort: Invalid value: 3: must match `containerPort` when `hostNetwork` is true"}, nil},
		{"ephemeral containers", `"spec":{"containers":[{"name":"c","image":"i"}],"ephemeralContainers":[{"name":"e","image":"i"}]}`,
			[]string{"template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template"}, nil},
		{"labels and annotations", `"metadata":{"labels":{"a":"b c"},"annotations":{"kubernetes.io/config.mirror":"x"}},"spec":{"containers":[{"name":"c","image":"i"}]}`, []string{
			"template.annotations[kubernetes.io/config.mirror]: Invalid value: \"x\": must set spec.nodeName if mirror pod annotation is set",
			"template.labels: Invalid value: \"b c\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
				"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
		}, nil},
		{"deprecated", annotations + `"spec":{"containers":[{"name":"c","image":"i"}],"terminationGracePeriodSeconds":-1}`, nil, []string{
			`template.metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead`,
			`template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead`,
			`template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
		}},
	} {
		t.Run(r.name, func(t *testing.T) {
			obj := kindtest.Create(t, typ, `{"metadata":{"name":"t"},"template":{`+r.template+`}}`)
			assert.Equal(t, sorted(r.errors), texts(typ.Validate(obj, object.View{})))
			assert.Equal(t, r.warnings, typ.WarningsOnWrite(obj, object.View{}))
		})
	}
}

// TestWarningsInReleases covers the warnings about Pod templates that differ by release.
func TestWarningsInReleases(t *testing.T) {
	const template = `{"metadata":{"name":"t"},"template":{"metadata":{"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"unconfined"}},"spec":{
		"containers":[{"name":"c","image":"i"}],"securityContext":{"appArmorProfile":{"type":"RuntimeDefault"}},
		"volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t"}},{"configMap":{"name":"m"}},{"configMap":{"name":"n","items":[]}},{"secret":{"name":"s"}},{}]}},{"name":"w","gitRepo":{"repository":"r"}}]}}}`
	const (
		overlap  = `volume "v" (Projected): overlapping paths: "t" (ServiceAccountToken) with "t" (ServiceAccountToken)`
		appArmor = `template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead`
		nothing  = `volume "v" (Projected) has no sources provided`
		gitRepo  = "template.spec.volumes[1].gitRepo: deprecated in v1.11, and disabled by default in v1.33+"
	)
	for _, r := range []struct {
		release string
		want    []string
	}{
		{"1.33", []string{gitRepo, overlap, nothing}},
		{"1.34", []string{gitRepo, nothing, appArmor}},
		{"1.36", []string{gitRepo, nothing, appArmor}},
	} {
		t.Run(r.release, func(t *testing.T) {
			typ := kindtest.TypeIn(t, r.release, "podtemplates")
			assert.Equal(t, r.want, typ.WarningsOnWrite(kindtest.Create(t, typ, template), object.View{}))
		})
	}
	r, err := release.Open("1.33")
	require.NoError(t, err)
	r, err = r.WithGates(map[string]bool{"GitRepoVolumeDriver": true})
	require.NoError(t, err)
	obj := kindtest.Create(t, kindtest.TypeIn(t, "1.33", "podtemplates"), template)
	assert.Contains(t, pods.WarnPodTemplate(r, object.Map(obj, "template"), validation.NewPath("template")), "template.spec.volumes[1].gitRepo: deprecated in v1.11")
}

// The fields of a Pod about its host were in the security context before v1.37.
func TestOrderOfWindowsErrors(t *testing.T) {
	const pod = `{"metadata":{"name":"a","namespace":"n"},"spec":{"os":{"name":"windows"},"hostPID":true,"hostIPC":true,"shareProcessNamespace":false,` +
		`"securityContext":{"seLinuxOptions":{},"sysctls":[{"name":"a","value":"b"}],"runAsUser":1},"containers":[{"name":"c","image":"i","securityContext":{"privileged":false}}]}}`
	for _, r := range []struct {
		release string
		want    []string
	}{
		{"1.36", []string{"securityContext.seLinuxOptions", "hostPID", "hostIPC", "securityContext.sysctls", "shareProcessNamespace", "securityContext.runAsUser", "containers[0].securityContext.privileged"}},
		{"1.37", []string{"securityContext.seLinuxOptions", "securityContext.sysctls", "securityContext.runAsUser", "hostPID", "hostIPC", "shareProcessNamespace", "containers[0].securityContext.privileged"}},
	} {
		t.Run(r.release, func(t *testing.T) {
			typ := kindtest.TypeIn(t, r.release, "pods")
			var got []string
			for _, e := range typ.ValidateAll(context.Background(), kindtest.Create(t, typ, pod), object.View{}, nil) {
				if e.Detail == "cannot be set for a windows pod" {
					got = append(got, strings.TrimPrefix(e.Field, "spec."))
				}
			}
			assert.Equal(t, r.want, got)
		})
	}
}

// TestPodRulesAcceptMissingFields checks that a rule does not panic if a required
// field is missing.
func TestPodRulesAcceptMissingFields(t *testing.T) {
	typ := kindtest.TypeOf(t, "pods")
	for _, spec := range []string{
		`{}`, `{"containers":null}`, `{"containers":[{}],"initContainers":[{}],"ephemeralContainers":[{}]}`,
		`{"containers":[{"env":[{"valueFrom":{}}],"envFrom":[{}],"ports":[{}],"volumeMounts":[{}],"volumeDevices":[{}],"lifecycle":{},"livenessProbe":{},"resizePolicy":[{}],"restartPolicyRules":[{}],"securityContext":{"windowsOptions":{}}}]}`,
		`{"containers":[],"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{}]},"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}},"topologySpreadConstraints":[{}],"tolerations":[{}],"hostAliases":[{}],"resourceClaims":[{}],"schedulingGates":[{}],"dnsConfig":{},"os":{},"overhead":{},"resources":{}}`,
	} {
		pod := kindtest.Create(t, typ, `{"metadata":{"name":"a","namespace":"n"},"spec":`+spec+`}`)
		bare := map[string]any{}
		assert.NotPanics(t, func() {
			typ.Validate(pod, object.View{})
			typ.Validate(pod, object.ViewOf(pod))
			typ.Validate(pod, object.ViewOf(bare))
			typ.Validate(bare, object.ViewOf(pod))
			typ.SubresourceStrategies["status"].Validate(pod, object.ViewOf(bare))
			typ.SubresourceStrategies["status"].Validate(bare, object.ViewOf(pod))
			typ.WarningsOnWrite(pod, object.View{})
			typ.WarningsOnWrite(bare, object.View{})
			for _, sub := range typ.SubresourceStrategies {
				changed := object.Copy(pod)
				sub.Prepare(changed, object.ViewOf(pod))
				sub.Validate(changed, object.ViewOf(pod))
				sub.Validate(bare, object.ViewOf(pod))
				sub.Validate(pod, object.ViewOf(bare))
			}
		}, spec)
	}
}

func TestWarnPodStatus(t *testing.T) {
	typ := kindtest.TypeOf(t, "pods")
	pod := kindtest.Decode(t, typ, `{"status":{"podIPs":[{"ip":"10.0.0.1"},{"ip":"0:0::1"}],"hostIPs":[{"ip":"2001:DB8::1"}]}}`)
	assert.Equal(t, []string{
		`status.podIPs[1].ip: IPv6 address "0:0::1" should be in RFC 5952 canonical format ("::1")`,
		`status.hostIPs[0].ip: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")`,
	}, typ.SubresourceStrategies["status"].WarningsOnWrite(pod, object.View{}))
}

// TestValidatePodMetadata checks that the metadata of a Pod has the same errors and warnings
// without the spec, if that has none with other metadata.
func TestValidatePodMetadata(t *testing.T) {
	typ := kindtest.TypeOf(t, "pods")
	for _, r := range podRows(t, newPods) {
		t.Run(r.Name, func(t *testing.T) {
			pod := kindtest.Create(t, typ, string(r.Pod))
			plain := object.Copy(pod)
			object.Set(plain, "a", "metadata", "name")
			delete(object.Map(plain, "metadata"), "annotations")
			if len(typ.Validate(plain, object.View{})) > 0 {
				return
			}
			want := texts(typ.Validate(pod, object.View{}))
			assert.Equal(t, want, texts(typ.ValidateMetadata(pod, object.View{})))
			if len(want) == 0 && len(typ.WarningsOnWrite(plain, object.View{})) == 0 {
				assert.Equal(t, typ.WarningsOnWrite(pod, object.View{}), typ.WarningsOnMetadata(pod))
			}
			for _, old := range []map[string]any{plain, pod} {
				assert.Equal(t, texts(typ.Validate(pod, object.ViewOf(old))), texts(typ.ValidateMetadata(pod, object.ViewOf(old))))
			}
		})
	}
}
