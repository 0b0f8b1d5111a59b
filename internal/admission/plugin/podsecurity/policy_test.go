package podsecurity

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

func decode(t testing.TB, text string) map[string]any {
	t.Helper()
	var obj map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &obj), text)
	return wholeNumbers(obj).(map[string]any)
}

// wholeNumbers converts the numbers of a value to int64.
func wholeNumbers(v any) any {
	switch v := v.(type) {
	case float64:
		return int64(v)
	case map[string]any:
		for name, e := range v {
			v[name] = wholeNumbers(e)
		}
	case []any:
		for i, e := range v {
			v[i] = wholeNumbers(e)
		}
	}
	return v
}

// secure returns a container without violations, with more fields in its
// securityContext.
func secure(name, more string) string {
	return fmt.Sprintf(`{"name":%q,"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}%s}}`, name, more)
}

func TestViolations(t *testing.T) {
	spec := func(more string) string { return `{"spec":{"containers":[` + secure("a", "") + `]` + more + `}}` }
	containers := func(list string) string { return `{"spec":{"containers":[` + list + `]}}` }
	for _, tt := range []struct {
		name    string
		level   level
		version version
		pod     string
		want    string
	}{
		{"no violations", levelRestricted, latest, spec(""), ""},
		{"privileged level", levelPrivileged, latest, containers(`{"name":"a","securityContext":{"privileged":true}}`), ""},
		{"plain container, baseline", levelBaseline, latest, containers(`{"name":"a"}`), ""},
		{"plain container, restricted", levelRestricted, latest, containers(`{"name":"a"}`),
			`allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false), ` +
				`unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]), ` +
				`runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true), ` +
				`seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`},
		{"plain container, v1.7", levelRestricted, 7, containers(`{"name":"a"}`),
			`runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true)`},
		{"pod securityContext", levelRestricted, 21, `{"spec":{"securityContext":{"runAsNonRoot":true,"seccompProfile":{"type":"Localhost"}},"containers":[{"name":"a","securityContext":{"allowPrivilegeEscalation":false}}]}}`, ""},
		{"host namespaces", levelBaseline, latest, spec(`,"hostNetwork":true,"hostPID":true,"hostIPC":true`), "host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)"},
		{"host ports", levelBaseline, latest, containers(`{"name":"a","ports":[{"hostPort":80},{"hostPort":443}]},{"name":"b","ports":[{"hostPort":80},{"containerPort":1}]}`), `hostPort (containers "a", "b" use hostPorts 443, 80)`},
		{"host port", levelBaseline, latest, containers(`{"name":"a","ports":[{"hostPort":80}]}`), `hostPort (container "a" uses hostPort 80)`},
		{"privileged", levelBaseline, latest, containers(secure("a", `,"privileged":true`)), `privileged (container "a" must not set securityContext.privileged=true)`},
		{"added capabilities", levelBaseline, latest, containers(`{"name":"a","securityContext":{"capabilities":{"add":["NET_RAW","CHOWN","BPF"]}}}`), `non-default capabilities (container "a" must not include "BPF", "NET_RAW" in securityContext.capabilities.add)`},
		{"any added capability", levelRestricted, latest, containers(`{"name":"a","securityContext":{"allowPrivilegeEscalation":false,"runAsNonRoot":true,"seccompProfile":{"type":"Localhost"},"capabilities":{"add":["CHOWN","NET_BIND_SERVICE"]}}}`),
			`unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]; container "a" must not include "CHOWN" in securityContext.capabilities.add)`},
		{"host path", levelBaseline, latest, spec(`,"volumes":[{"name":"v","hostPath":{}},{"name":"w","nfs":{}}]`), `hostPath volumes (volume "v")`},
		{"volume types", levelRestricted, latest, spec(`,"volumes":[{"name":"v","hostPath":{}},{"name":"w","nfs":{}},{"name":"x","secret":{}},{"name":"y"}]`), `restricted volume types (volumes "v", "w", "y" use restricted volume types "hostPath", "nfs", "unknown")`},
		{"AppArmor", levelBaseline, latest, `{"metadata":{"annotations":{"container.apparmor.security.beta.kubernetes.io/a":"unconfined","container.apparmor.security.beta.kubernetes.io/b":"localhost/x"}},"spec":{"securityContext":{"appArmorProfile":{"type":"Unconfined"}}}}`,
			`forbidden AppArmor profiles (pod and annotation must not set AppArmor profile type to "Unconfined", "container.apparmor.security.beta.kubernetes.io/a="unconfined"")`},
		{"SELinux", levelBaseline, latest, `{"spec":{"securityContext":{"seLinuxOptions":{"type":"t"}},"containers":[{"name":"a","securityContext":{"seLinuxOptions":{"user":"u","role":"r"}}}]}}`,
			`seLinuxOptions (pod and container "a" set forbidden securityContext.seLinuxOptions: type "t"; user may not be set; role may not be set)`},
		{"newer SELinux type", levelBaseline, 31, containers(`{"name":"a","securityContext":{"seLinuxOptions":{"type":"container_engine_t"}}}`), ""},
		{"newer SELinux type, earlier version", levelBaseline, 30, containers(`{"name":"a","securityContext":{"seLinuxOptions":{"type":"container_engine_t"}}}`), `seLinuxOptions (container "a" set forbidden securityContext.seLinuxOptions: type "container_engine_t")`},
		{"seccomp annotations", levelBaseline, 18, `{"metadata":{"annotations":{"seccomp.security.alpha.kubernetes.io/pod":"x","container.seccomp.security.alpha.kubernetes.io/a":"docker/default"}},"spec":{"containers":[{"name":"a"}]}}`, `seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="x")`},
		{"seccomp", levelRestricted, latest, containers(secure("a", `,"seccompProfile":{"type":"Unconfined"}`)), `seccompProfile (container "a" must not set securityContext.seccompProfile.type to "Unconfined")`},
		{"sysctls", levelBaseline, latest, spec(`,"securityContext":{"sysctls":[{"name":"a"},{"name":"net.ipv4.tcp_rmem"}]}`), "forbidden sysctls (a)"},
		{"newer sysctls, earlier version", levelBaseline, 31, spec(`,"securityContext":{"sysctls":[{"name":"net.ipv4.tcp_rmem"}]}`), "forbidden sysctls (net.ipv4.tcp_rmem)"},
		{"sysctls of v1.37", levelBaseline, latest, spec(`,"securityContext":{"sysctls":[{"name":"net.ipv4.tcp_notsent_lowat"},{"name":"net.ipv4.tcp_slow_start_after_idle"}]}`), ""},
		{"sysctls of v1.37, earlier version", levelBaseline, 36, spec(`,"securityContext":{"sysctls":[{"name":"net.ipv4.tcp_notsent_lowat"}]}`), "forbidden sysctls (net.ipv4.tcp_notsent_lowat)"},
		{"proc mount", levelBaseline, latest, containers(secure("a", `,"procMount":"Unmasked"`)), `procMount (container "a" must not set securityContext.procMount to "Unmasked")`},
		{"proc mount of a user namespace", levelBaseline, latest, `{"spec":{"hostUsers":false,"containers":[` + secure("a", `,"procMount":"Unmasked"`) + `]}}`, ""},
		{"proc mount of a user namespace, restricted", levelRestricted, latest, `{"spec":{"hostUsers":false,"containers":[` + secure("a", `,"procMount":"Unmasked"`) + `]}}`, `procMount (container "a" must not set securityContext.procMount to "Unmasked")`},
		{"root", levelRestricted, latest, `{"spec":{"securityContext":{"runAsUser":0,"runAsNonRoot":false},"containers":[` + secure("a", `,"runAsUser":0`) + `]}}`,
			`runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false), runAsUser=0 (pod and container "a" must not set runAsUser=0)`},
		{"root of a user namespace", levelRestricted, latest, `{"spec":{"hostUsers":false,"securityContext":{"runAsUser":0,"runAsNonRoot":false},"containers":[` + secure("a", "") + `]}}`, ""},
		{"Windows", levelRestricted, latest, `{"spec":{"os":{"name":"windows"},"securityContext":{"runAsNonRoot":true,"windowsOptions":{"hostProcess":true}},"containers":[{"name":"a"}]}}`, "hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)"},
		{"hosts of handlers", levelBaseline, latest, containers(`{"name":"b","livenessProbe":{"httpGet":{"host":"h"}}},{"name":"a","lifecycle":{"preStop":{"tcpSocket":{"host":"g"}}}}`), `probe or lifecycle host (containers "a", "b" use probe or lifecycle hosts "g", "h")`},
		{"hosts of handlers, earlier version", levelBaseline, 33, containers(`{"name":"b","livenessProbe":{"httpGet":{"host":"h"}}}`), ""},
		{"init and ephemeral containers", levelBaseline, latest, `{"spec":{"initContainers":[{"name":"i","securityContext":{"privileged":true}}],"ephemeralContainers":[{"name":"e","securityContext":{"privileged":true}}]}}`, `privileged (containers "i", "e" must not set securityContext.privileged=true)`},
		{"empty pod", levelRestricted, latest, `{}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			violations := levelVersion{level: tt.level, version: tt.version}.violations(object.ViewOf(decode(t, tt.pod)), 37)
			assert.Equal(t, tt.want, joinDetails(violations))
		})
	}
}

func TestParsePolicy(t *testing.T) {
	for _, tt := range []struct{ name, labels, enforce, warn, errs string }{
		{"no labels", `{}`, "privileged:latest", "privileged:latest", ""},
		{"other labels", `{"a":"b"}`, "privileged:latest", "privileged:latest", ""},
		{"enforce", `{"enforce":"baseline","enforce-version":"v1.20"}`, "baseline:v1.20", "baseline:v1.20", ""},
		{"enforce and warn", `{"enforce":"baseline","warn":"restricted"}`, "baseline:latest", "restricted:latest", ""},
		{"enforce and warn-version", `{"enforce":"baseline","warn-version":"v1.0"}`, "baseline:latest", "baseline:v1.0", ""},
		{"invalid levels", `{"enforce":"x","warn":"y"}`, "restricted:latest", "privileged:latest",
			`[metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "x": must be one of privileged, baseline, restricted, metadata.labels[pod-security.kubernetes.io/warn]: Invalid value: "y": must be one of privileged, baseline, restricted]`},
		{"invalid version", `{"audit-version":"v1.01"}`, "privileged:latest", "privileged:latest", `metadata.labels[pod-security.kubernetes.io/audit-version]: Invalid value: "v1.01": must be "latest" or "v1.x"`},
		{"invalid major version", `{"enforce-version":"v2.1"}`, "privileged:latest", "privileged:latest", `metadata.labels[pod-security.kubernetes.io/enforce-version]: Invalid value: "v2.1": must be "latest" or "v1.x"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			namespace := map[string]any{}
			for name, v := range decode(t, tt.labels) {
				if name != "a" {
					name = "pod-security.kubernetes.io/" + name
				}
				object.Set(namespace, v, "metadata", "labels", name)
			}
			policy, errs := (*Configuration)(nil).parsePolicy(object.ViewOf(namespace))
			assert.Equal(t, tt.enforce, policy.enforce.String())
			assert.Equal(t, tt.warn, policy.warn.String())
			assert.Equal(t, tt.errs, errs.Message())
		})
	}
}
