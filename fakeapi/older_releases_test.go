package fakeapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// What older releases answer otherwise.
func TestOlderReleases(t *testing.T) {
	const (
		merge      = "application/merge-patch+json"
		table      = "application/json;as=Table;g=meta.k8s.io;v=v1"
		proto      = "application/vnd.kubernetes.protobuf"
		configMaps = "/api/v1/namespaces/default/configmaps"
		deployment = "/apis/apps/v1/namespaces/default/deployments/missing"
		streamed   = configMaps + "?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=a"
		handled    = "only the following media types are accepted: "
		notFound   = `deployments.apps \"missing\" not found`
		scale      = `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"missing"},"spec":{"replicas":1}}`
	)
	const pods = "/api/v1/namespaces/default/pods"
	pod := func(spec string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"automountServiceAccountToken":false,` + spec + `}}`
	}
	servers := map[string]*fakeapi.Server{}
	for _, tt := range []struct {
		name, release                     string
		method, path, accept, media, body string
		code                              int
		want                              string
	}{
		{"patch of no type without a body", "1.33", "PATCH", configMaps + "/a", "", "text/plain", "", 406, `406: Not Acceptable\n\nAvailable representations: "`},
		{"patch of no type without a body", "1.34", "PATCH", configMaps + "/a", "", "text/plain", "", 415, `"415: Unsupported Media Type"`},
		{"patch of no type", "1.33", "PATCH", configMaps + "/a", "", "text/plain", "x", 415, `"415: Unsupported Media Type"`},
		{"no media type", "1.33", "PATCH", configMaps + "/a", "text/html", merge, "{}", 406, `"406: Not Acceptable\n\nAvailable representations: application/json`},
		{"option and media type", "1.35", "GET", configMaps + "?limit=x", "application/json;as=Nonsense;g=a;v=b", "", "", 400, `strconv.ParseInt`},
		{"option and media type", "1.36", "GET", configMaps + "?limit=x", "application/json;as=Nonsense;g=a;v=b", "", "", 406, handled},
		{"selector and media type", "1.35", "GET", configMaps + "?fieldSelector=x%3Dy", "application/json;as=Nonsense;g=a;v=b", "", "", 406, handled},
		{"streaming list as a Table", "1.32", "GET", streamed, table, "", "", 406, handled},
		{"streaming list as a Table or else", "1.32", "GET", streamed, table + "," + proto, "", "", 200, "k8s.io/initial-events-end"},
		{"streaming list as a Table", "1.34", "GET", streamed, table, "", "", 200, "k8s.io/initial-events-end"},
		{"blueprint", "1.32", "GET", streamed, "", "", "", 200, "eyJraW5kIjoiQ29uZmlnTWFwTGlzdCIsImFwaVZlcnNpb24iOiJ2MSIsIm1ldGFkYXRhIjp7fSwiaXRlbXMiOm51bGx9Cg=="},
		{"blueprint in protobuf", "1.32", "GET", streamed, proto, "", "", 200, "azhzAAoTCgJ2MRINQ29uZmlnTWFwTGlzdBIICgYKABIAGgAaACIA"},
		{"blueprint of metadata in protobuf", "1.32", "GET", streamed, proto + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "", "", 200,
			"azhzAAorCg5tZXRhLms4cy5pby92MRIZUGFydGlhbE9iamVjdE1ldGFkYXRhTGlzdBIICgYKABIAGgAaACIA"},
		{"blueprint of a list of metadata", "1.32", "GET", streamed, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "", "", 200,
			`no kind is registered for the type v1.ConfigMapList in scheme \"pkg/runtime/scheme.go:100\"`},
		{"kind of a binding", "1.32", "POST", "/api/v1/namespaces/default/pods/a/binding", "", "application/json", `{"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions"}`, 400,
			`in scheme \"pkg/runtime/scheme.go:100\"`},
		{"restart policy of a container", "1.33", "POST", pods, "", "application/json", pod(`"containers":[{"name":"c","image":"i","restartPolicy":"Always"}]`), 422,
			`spec.containers[0].restartPolicy: Forbidden: may not be set for non-init containers`},
		{"restart policy of an init container", "1.33", "POST", pods, "", "application/json",
			pod(`"containers":[{"name":"c","image":"i"}],"initContainers":[{"name":"d","image":"i","restartPolicy":"OnFailure"}]`), 422,
			`Unsupported value: \"OnFailure\": supported values: \"Always\""`},
		{"resource of a resize policy", "1.33", "POST", pods, "", "application/json",
			pod(`"containers":[{"name":"c","image":"i","resizePolicy":[{"resourceName":"b","restartPolicy":"NotRequired"}]}]`), 422, `Unsupported value: b: supported values: \"cpu\", \"memory\"`},
		{"metadata of a review", "1.33", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "", "application/json",
			`{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","metadata":{"name":"a"},"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}`, 422,
			`metadata: Invalid value: v1.ObjectMeta{Name:\"a\", GenerateName:\"\", Namespace:\"\", SelfLink:\"\", UID:\"\", ResourceVersion:\"\", Generation:0, ` +
				`CreationTimestamp:time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC), DeletionTimestamp:\u003cnil\u003e, `},
		{"Scale of a missing object", "1.32", "GET", deployment + "/scale", "", "", "", 404, `deployments/scale.apps \"missing\" not found`},
		{"Scale of a missing object", "1.33", "GET", deployment + "/scale", "", "", "", 404, notFound},
		{"Scale of a missing StatefulSet", "1.32", "GET", "/apis/apps/v1/namespaces/default/statefulsets/missing/scale", "", "", "", 404, `statefulsets.apps \"missing\" not found`},
		{"Scale of a missing ReplicationController", "1.32", "GET", "/api/v1/namespaces/default/replicationcontrollers/missing/scale", "", "", "", 404,
			`replicationcontrollers/scale.autoscaling \"missing\" not found`},
		{"write of the Scale of a missing object", "1.33", "PUT", deployment + "/scale", "", "application/json", scale, 404, `deployments/scale.apps \"missing\" not found`},
		{"write of the Scale of a missing object", "1.34", "PUT", deployment + "/scale", "", "application/json", scale, 404, notFound},
		{"UID of a missing object", "1.33", "PUT", configMaps + "/missing", "", "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"missing","uid":"u"}}`, 409,
			`Precondition failed: UID in precondition: u, UID in object meta: `},
		{"UID of a missing object", "1.34", "PUT", configMaps + "/missing", "", "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"missing","uid":"u"}}`, 404,
			`configmaps \"missing\" not found`},
	} {
		t.Run(tt.release+" "+tt.name, func(t *testing.T) {
			if servers[tt.release] == nil {
				srv, err := fakeapi.New(fakeapi.WithRelease(tt.release))
				require.NoError(t, err)
				servers[tt.release] = srv
			}
			srv := servers[tt.release]
			req, err := http.NewRequest(tt.method, srv.URL+tt.path, strings.NewReader(tt.body))
			require.NoError(t, err)
			if tt.media != "" {
				req.Header.Set("Content-Type", tt.media)
			}
			if tt.accept != "" {
				req.Header.Set("Accept", tt.accept)
			}
			resp, err := srv.Client().Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, tt.code, resp.StatusCode, "%s", text)
			assert.Contains(t, string(text), tt.want)
		})
	}
	for _, srv := range servers {
		srv.Close()
	}
}
