package objects_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// What may change in the template of a suspended Job depends on two gates.
func TestSuspendedJobGates(t *testing.T) {
	const (
		path      = "/apis/batch/v1/namespaces/default/jobs"
		resources = `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}}]}}}}`
		selector  = `{"spec":{"template":{"metadata":{"labels":{"x":"y"}},"spec":{"nodeSelector":{"a":"b"}}}}}`
		image     = `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"j"}]}}}}`
		never     = `{}`
		before    = `{"status":{"startTime":"2026-01-02T03:04:05Z","conditions":[{"type":"Suspended","status":"True"}]}}`
	)
	for i, row := range []struct {
		name                 string
		directives, quantity bool // the gates
		started              string
		patch                string
		want                 int
		field                string
	}{
		{"resources", true, true, never, resources, 200, ""},
		{"resources, gate off", true, false, never, resources, 422, "spec.template"},
		{"directives of a Job that was started", true, true, before, selector, 200, ""},
		{"directives of a Job that was started, gate off", false, false, before, selector, 422, "spec.template"},
		{"directives of a new Job, gate off", false, false, never, selector, 200, ""},
		{"directives of a Job that was started, with the gate of resources", false, true, before, selector, 422, "spec.template.spec"},
		{"image", true, true, never, image, 422, "spec.template.spec"},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{
				"MutableSchedulingDirectivesForSuspendedJobs": row.directives, "MutablePodResourcesForSuspendedJobs": row.quantity,
			}}))
			name := "j" + strconv.Itoa(i)
			code, _ := apitest.Do(t, srv, "POST", path, `{"metadata":{"name":"`+name+`"},"spec":{"suspend":true,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`)
			require.Equal(t, 201, code)
			code, _ = apitest.Do(t, srv, "PATCH", path+"/"+name+"/status", row.started)
			require.Equal(t, 200, code)
			code, answer := apitest.Do(t, srv, "PATCH", path+"/"+name, row.patch)
			assert.Equal(t, row.want, code, answer["message"])
			if row.want == 422 {
				causes := answer["details"].(map[string]any)["causes"].([]any)
				require.Len(t, causes, 1)
				assert.Equal(t, row.field, causes[0].(map[string]any)["field"])
			}
		})
	}
}

// The transitions of the status of a Job are checked with the gate of the field managedBy.
func TestJobManagedByGate(t *testing.T) {
	const path = "/apis/batch/v1/namespaces/default/jobs"
	for _, row := range []struct {
		name string
		on   bool
		want int
	}{{"strict", true, 422}, {"not strict", false, 200}} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.33"), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"JobManagedBy": row.on}}))
			code, _ := apitest.Do(t, srv, "POST", path, `{"metadata":{"name":"a"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`)
			require.Equal(t, 201, code)
			code, answer := apitest.Do(t, srv, "PATCH", path+"/a/status", `{"status":{"startTime":"2026-01-02T03:04:05Z","conditions":[{"type":"Failed","status":"True"}]}}`)
			assert.Equal(t, row.want, code, answer["message"])
		})
	}
}

// Claims lose the class of their attributes without its gate.
func TestVolumeAttributesClassGate(t *testing.T) {
	for _, row := range []struct {
		name string
		on   bool
		want any
	}{{"on", true, "gold"}, {"off", false, nil}} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.34"), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"VolumeAttributesClass": row.on}}))
			code, claim := apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/persistentvolumeclaims", `{"metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"],"volumeAttributesClassName":"gold","resources":{"requests":{"storage":"1Gi"}}}}`)
			require.Equal(t, 201, code, claim["message"])
			assert.Equal(t, row.want, claim["spec"].(map[string]any)["volumeAttributesClassName"])
		})
	}
}

// The scheduling of a Job and of the template of a CronJob is validated, and dropped without its gate.
func TestJobScheduling(t *testing.T) {
	const (
		jobs     = "/apis/batch/v1/namespaces/default/jobs"
		cronJobs = "/apis/batch/v1/namespaces/default/cronjobs"
		template = `"parallelism":2,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`
		frozen   = "the basic/gang policy variant is immutable after creation; only schedulingPolicy.gang.minCount may be updated"
		basic    = "the disruptionMode `all` is not supported with the Basic scheduling policy"
	)
	start := func(on bool) *fakeapi.Server {
		return fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"AllAlpha": on, "AllBeta": on}}))
	}
	job := func(scheduling string) string {
		return `{"metadata":{"name":"a"},"spec":{` + template + `,"scheduling":` + scheduling + `}}`
	}
	srv := start(true)
	for _, row := range []struct{ name, scheduling, want string }{
		{"empty", `{}`, ""},
		{"a gang as large as the parallelism", `{"schedulingPolicy":{"gang":{}},"disruptionMode":{"all":{}}}`, ""},
		{"a policy of no type", `{"schedulingPolicy":{}}`, "scheduling.schedulingPolicy: Invalid value: \"\": must specify one of: `basic`, `gang`"},
		{"a gang beyond the parallelism", `{"schedulingPolicy":{"gang":{"minCount":3}}}`, "scheduling.schedulingPolicy.gang.minCount: Invalid value: 3: must not be greater than parallelism (2)"},
		{"a gang of none", `{"schedulingPolicy":{"gang":{"minCount":0}}}`, "scheduling.schedulingPolicy.gang.minCount: Invalid value: 0: must be greater than or equal to 1"},
		{"all are disrupted, and none depends on another", `{"disruptionMode":{"all":{}}}`, `scheduling.disruptionMode: Invalid value: "": ` + basic},
		{"two modes", `{"disruptionMode":{"single":{},"all":{}}}`, "scheduling.disruptionMode: Invalid value: \"{single, all}\": must specify exactly one of: `single`, `all`"},
		{"two topologies", `{"schedulingConstraints":{"topology":[{"key":"a"},{"key":"b"}]}}`, "scheduling.schedulingConstraints.topology: Too many: 2: must have at most 1 item"},
		{"a claim of nothing", `{"resourceClaims":[{"name":"a"}]}`, "scheduling.resourceClaims[0]: Invalid value: \"\": must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for path, body := range map[string]string{jobs: job(row.scheduling), cronJobs: `{"metadata":{"name":"a"},"spec":{"schedule":"* * * * *","jobTemplate":` + job(row.scheduling) + `}}`} {
				code, answer := apitest.Do(t, srv, "POST", path+"?dryRun=All", body)
				message, _ := answer["message"].(string)
				assert.Equal(t, row.want == "", code == 201, message)
				assert.True(t, strings.HasSuffix(message, row.want), message)
			}
		})
	}
	apitest.Do(t, srv, "POST", jobs, job(`{"schedulingPolicy":{"gang":{"minCount":1}},"resourceClaims":[{"name":"a","resourceClaimName":"b"}]}`))
	for _, row := range []struct{ name, patch, want string }{
		{"another minCount", `{"schedulingPolicy":{"gang":{"minCount":2}}}`, ""},
		{"a minCount beyond the parallelism", `{"schedulingPolicy":{"gang":{"minCount":4}}}`, "spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 4: must not be greater than parallelism (2)"},
		{"cleared", `null`, "spec.scheduling: Invalid value: null: field cannot be cleared once set"},
		{"the policy cleared", `{"schedulingPolicy":null}`, "spec.scheduling.schedulingPolicy: Invalid value: null: field cannot be cleared once set"},
		{"another policy", `{"schedulingPolicy":{"gang":null,"basic":{}}}`, "spec.scheduling.schedulingPolicy: Invalid value: null: " + frozen},
		{"constraints set", `{"schedulingConstraints":{"topology":[{"key":"a"}]}}`, "spec.scheduling.schedulingConstraints: Invalid value: null: field is immutable"},
		{"another claim", `{"resourceClaims":[{"name":"a","resourceClaimName":"c"}]}`, "spec.scheduling.resourceClaims: Invalid value: null: field is immutable"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, answer := apitest.Do(t, srv, "PATCH", jobs+"/a?dryRun=All", `{"spec":{"scheduling":`+row.patch+`}}`)
			message, _ := answer["message"].(string)
			if row.want != "" {
				row.want = `Job.batch "a" is invalid: ` + row.want
			}
			assert.Equal(t, row.want, message)
		})
	}
	t.Run("without the gate", func(t *testing.T) {
		_, answer := apitest.Do(t, start(false), "POST", jobs, job(`{"schedulingPolicy":{}}`))
		assert.NotContains(t, answer["spec"], "scheduling", answer["message"])
	})
}
