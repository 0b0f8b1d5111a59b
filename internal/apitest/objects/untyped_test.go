package objects_test

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

const (
	revisions     = "/apis/apps/v1/namespaces/default/controllerrevisions"
	deviceClasses = "/apis/resource.k8s.io/v1/deviceclasses"

	jsonType       = "application/json"
	mergePatch     = "application/merge-patch+json"
	jsonPatch      = "application/json-patch+json"
	strategicPatch = "application/strategic-merge-patch+json"
	applyPatch     = "application/apply-patch+yaml"
)

// revision returns a ControllerRevision called x with data. members are more members of its metadata.
func revision(data, members string) string {
	return `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"x"` + members + `},"data":` + data + `,"revision":1}`
}

// deviceClass is revision for a DeviceClass with opaque parameters.
func deviceClass(parameters string) string {
	return `{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"x"},"spec":{"config":[{"opaque":{"driver":"d.example.com","parameters":` + parameters + `}}]}}`
}

// send returns the status and the body of an answer. accept is the media type of the answer, "" for JSON.
func send(t *testing.T, srv *fakeapi.Server, method, path, body, contentType, accept string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, srv.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Accept", accept)
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(text)
}

// The data of a ControllerRevision is immutable, byte by byte. Recorded from kube-apiserver v1.37.2.
func TestBytesOfUntypedData(t *testing.T) {
	const spaced, immutable = `{ "b" : 1.0, "a":"<" }`, ": field is immutable"
	patch := func(change, mediaType string) [4]string {
		return [4]string{"PATCH", change, mediaType, "?fieldManager=m"}
	}
	label := `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"x","labels":{"l":"v"}}}`
	for _, tt := range []struct {
		name, data string
		change     [4]string // method, body, media type, query
		code       int
		answer     string // the data, or the value in the error
	}{
		{"the same bytes", spaced, [4]string{"PUT", revision(spaced, `,"labels":{"l":"v"}`), jsonType}, 200, `{"b":1.0,"a":"\u003c"}`},
		{"spaces around", spaced, [4]string{"PUT", revision("\n "+spaced+"\t", ``), jsonType}, 200, `{"b":1.0,"a":"\u003c"}`},
		{"no spaces", spaced, [4]string{"PUT", revision(`{"b":1.0,"a":"<"}`, ``), jsonType}, 422, `{"b":1.0,"a":"\u003c"}`},
		{"an escape", spaced, [4]string{"PUT", revision(`{ "b" : 1.0, "a":"\u003c" }`, ``), jsonType}, 422, `{"b":1.0,"a":"\u003c"}`},
		{"YAML", spaced, [4]string{"PUT", revision(spaced, ``), "application/yaml"}, 422, `{"a":"\u003c","b":1}`},
		{"merge patch of a label", spaced, patch(`{"metadata":{"labels":{"l":"v"}}}`, mergePatch), 422, `{"b":1.0,"a":"\u003c"}`},
		{"merge patch of a label, compact", `{"b":1.50,"a":-0}`, patch(`{"metadata":{"labels":{"l":"v"}}}`, mergePatch), 200, `{"b":1.50,"a":-0}`},
		{"merge patch of data", `{"b":1.0,"a":{"y":1.0,"x":2}}`, patch(`{"data":{"z":{ "q":1.50,"p":null }}}`, mergePatch), 422, `{"a":{"y":1.0,"x":2},"b":1.0,"z":{"q":1.50}}`},
		{"merge patch with the same data sorts it", `{"b":1.0,"a":1}`, patch(`{"data":{"b":1.0}}`, mergePatch), 422, `{"a":1,"b":1.0}`},
		{"JSON patch of an annotation", spaced, patch(`[{"op":"add","path":"/metadata/annotations","value":{"l":"v"}}]`, jsonPatch), 422, `{"b":1.0,"a":"\u003c"}`},
		{"JSON patch with the same data", `{"b":1.0,"a":1}`, patch(`[{"op":"replace","path":"/data","value":{ "b":1.0, "a":1 }}]`, jsonPatch), 200, `{"b":1.0,"a":1}`},
		{"JSON patch of a member", `{"b":1.0,"a":{"y":1.0,"x":2}}`, patch(`[{"op":"copy","from":"/data/a","path":"/data/c"}]`, jsonPatch), 422, `{"a":{"y":1.0,"x":2},"b":1.0,"c":{"y":1.0,"x":2}}`},
		{"strategic merge patch of a label", `{"b":1.0,"a":-0.0}`, patch(`{"metadata":{"labels":{"l":"v"}}}`, strategicPatch), 422, `{"a":-0,"b":1}`},
		{"strategic merge patch of a label, normal", `{"a":"\u003c","b":1}`, patch(`{"metadata":{"labels":{"l":"v"}}}`, strategicPatch), 200, `{"a":"\u003c","b":1}`},
		{"apply of a label", spaced, patch(label, applyPatch), 422, `{"a":"\u003c","b":1}`},
		{"apply of a label, normal", `{"a":"\u003c","b":1}`, patch(label, applyPatch), 200, `{"a":"\u003c","b":1}`},
		{"apply of the same data", spaced, patch(revision(`{"a":"<","b":1}`, ``), applyPatch), 200, `{"b":1.0,"a":"\u003c"}`},
		{"members twice", `{"a":1,"a":2}`, patch(`{"metadata":{"labels":{"l":"v"}}}`, mergePatch), 200, `{"a":1,"a":2}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory())
			code, text := send(t, srv, "POST", revisions, revision(tt.data, ``), jsonType, "")
			require.Equal(t, 201, code, text)
			code, text = send(t, srv, tt.change[0], revisions+"/x"+tt.change[3], tt.change[1], tt.change[2], "")
			require.Equal(t, tt.code, code, text)
			if code == 200 {
				assert.Contains(t, text, `"data":`+tt.answer+`,"revision"`)
			} else {
				assert.Contains(t, strings.ReplaceAll(strings.ReplaceAll(text, `\"`, `"`), `\\`, `\`), `data: Invalid value: `+tt.answer+immutable)
			}
		})
	}
}

// What an answer shows of untyped data depends on its media type, and so does what a body with it says.
func TestUntypedDataInMediaTypes(t *testing.T) {
	const (
		spaced   = `{ "b" : 1.50, "a":"<" }`
		protobuf = "application/vnd.kubernetes.protobuf"
	)
	for _, tt := range []struct{ name, method, path, accept, answer string }{
		{"JSON", "GET", "/x", jsonType, `"data":{"b":1.50,"a":"\u003c"},"revision"`},
		{"YAML", "GET", "/x", "application/yaml", "data:\n  a: <\n  b: 1.5\nkind"},
		{"protobuf", "GET", "/x", protobuf, spaced},
		{"list in protobuf", "GET", "", protobuf, spaced},
		{"dry run in protobuf", "PUT", "/x?dryRun=All", protobuf, spaced},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory())
			send(t, srv, "POST", revisions, revision(spaced, ``), jsonType, "")
			body := ""
			if tt.method == "PUT" {
				body = revision(spaced, `,"labels":{"l":"v"}`)
			}
			_, text := send(t, srv, tt.method, revisions+tt.path, body, jsonType, tt.accept)
			assert.Contains(t, text, tt.answer)
		})
	}
	for _, tt := range []struct {
		name, mediaType string
		code            int
	}{
		{"own protobuf", protobuf, 200},
		{"own JSON", jsonType, 422},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory())
			send(t, srv, "POST", revisions, revision(spaced, ``), jsonType, "")
			_, own := send(t, srv, "GET", revisions+"/x", "", "", tt.mediaType)
			code, text := send(t, srv, "PUT", revisions+"/x", own, tt.mediaType, "")
			assert.Equal(t, tt.code, code, text)
		})
	}
}

var generation = regexp.MustCompile(`"generation":\d`)

// Another spelling of the parameters of a DeviceClass is another generation, and another owner. Recorded
// from kube-apiserver v1.37.2.
func TestSpellingOfParameters(t *testing.T) {
	for _, tt := range []struct {
		name, applied, method, change, mediaType string
		generation, owner                        string
	}{
		{"same", `{"a":1}`, "PUT", deviceClass(`{"a":1}`), jsonType, "1", "m"},
		{"space", `{"a":1}`, "PUT", deviceClass(`{"a": 1}`), jsonType, "2", "u"},
		{"order", `{"a":1,"b":2}`, "PUT", deviceClass(`{"b":2,"a":1}`), jsonType, "2", "u"},
		{"number", `{"a":1}`, "PUT", deviceClass(`{"a":1.0}`), jsonType, "2", "u"},
		{"character that apply escapes", `{"a":"<"}`, "PUT", deviceClass(`{"a":"<"}`), jsonType, "2", "u"},
		{"escape", `{"a":"<"}`, "PUT", deviceClass(`{"a":"\u003c"}`), jsonType, "1", "m"},
		{"space in a merge patch", `{"a":1}`, "PATCH", `{"spec":{"config":[{"opaque":{"driver":"d.example.com","parameters":{"a": 1}}}]}}`, mergePatch, "1", "m"},
		{"number in a merge patch", `{"a":1}`, "PATCH", `{"spec":{"config":[{"opaque":{"driver":"d.example.com","parameters":{"a": 1.0}}}]}}`, mergePatch, "2", "u"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory())
			code, text := send(t, srv, "PATCH", deviceClasses+"/x?fieldManager=m", deviceClass(tt.applied), applyPatch, "")
			require.Equal(t, 201, code, text)
			code, text = send(t, srv, tt.method, deviceClasses+"/x?fieldManager=u", tt.change, tt.mediaType, "")
			require.Equal(t, 200, code, text)
			assert.Equal(t, `"generation":`+tt.generation, generation.FindString(text))
			assert.Contains(t, text, `"manager":"`+tt.owner+`"`)
			assert.Equal(t, 1, strings.Count(text, `"manager"`))
		})
	}
}

// The length of parameters is that of their text.
func TestLengthOfParameters(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	code, text := send(t, srv, "POST", deviceClasses, deviceClass("{"+strings.Repeat(" ", 10240)+`"a":1}`), jsonType, "")
	assert.Equal(t, 422, code)
	assert.Contains(t, text, "spec.config[0].opaque.parameters: Too long: may not be more than 10240 bytes")
	code, text = send(t, srv, "POST", deviceClasses, deviceClass("{"+strings.Repeat(" ", 10240-len(`{"a":1}`))+`"a":1}`), jsonType, "")
	assert.Equal(t, 201, code, text)
}

// TestStateOfUntypedData checks that a written state has the bytes.
func TestStateOfUntypedData(t *testing.T) {
	const spaced = `{ "b" : 1.50, "a":"<" }`
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	code, text := send(t, srv, "POST", revisions, revision(spaced, ``), jsonType, "")
	require.Equal(t, 201, code, text)
	var state bytes.Buffer
	require.NoError(t, srv.WriteState(&state))

	again := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithState(&state))
	_, text = send(t, again, "GET", revisions+"/x", "", "", "application/vnd.kubernetes.protobuf")
	assert.Contains(t, text, spaced)
	code, answer := apitest.Do(t, again, "PUT", revisions+"/x", revision(spaced, `,"labels":{"l":"v"}`))
	assert.Equal(t, 200, code, answer)
}
