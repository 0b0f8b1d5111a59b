//go:build go1.25

package scenarios_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/scenarios"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the recordings in testdata")

// A recordedClient sends its requests to a Recorder.
type recordedClient struct {
	t   *testing.T
	url string
	*http.Client
}

func record(t *testing.T, next http.Handler, secrets ...scenarios.Secret) (*scenarios.Recorder, *recordedClient) {
	t.Helper()
	r := scenarios.Record(next, secrets...)
	h, err := httptest.Start(r, httptest.Options{InMemory: true})
	require.NoError(t, err)
	t.Cleanup(h.Close)
	return r, &recordedClient{t, h.URL, &http.Client{Transport: h.InMemory()}}
}

// do sends a request, given as its first line, headers, an empty line and a body.
func (c *recordedClient) do(text string) *http.Response {
	c.t.Helper()
	head, body, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	method, path, _ := strings.Cut(lines[0], " ")
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	require.NoError(c.t, err)
	req.Header.Set("Content-Type", "application/json")
	for _, line := range lines[1:] {
		key, value, _ := strings.Cut(line, ": ")
		req.Header.Set(key, value)
	}
	resp, err := c.Do(req)
	require.NoError(c.t, err)
	c.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// json sends a request and decodes the answer.
func (c *recordedClient) json(text string) map[string]any {
	c.t.Helper()
	resp := c.do(text)
	body, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	var out map[string]any
	_ = json.Unmarshal(body, &out)
	return out
}

// session is a client that sends back what the server has generated: names, UIDs,
// resource versions and continue tokens.
func session(c *recordedClient) {
	watch := c.do("GET /api/v1/namespaces/default/configmaps?watch=1&resourceVersion=" + version(c.json("GET /api/v1/namespaces/default/configmaps")))
	a := c.json(`POST /api/v1/namespaces/default/configmaps?fieldManager=test
Authorization: Bearer hunter2
User-Agent: session/1

{"metadata": {"generateName": "a-"}, "data": {"password": "hunter2", "color": "red"}}`)
	meta := a["metadata"].(map[string]any)
	name := meta["name"].(string)
	events := bufio.NewScanner(watch.Body)
	events.Scan()
	time.Sleep(1500 * time.Millisecond)
	c.json("PUT /api/v1/namespaces/default/configmaps/" + name + `
Content-Type: application/yaml

metadata: {name: ` + name + `, uid: ` + meta["uid"].(string) + `, resourceVersion: "` + version(a) + `"}
data: {color: green}`)
	events.Scan()
	c.json("PUT /api/v1/namespaces/default/configmaps/" + name + `

{"metadata": {"name": "` + name + `", "resourceVersion": "` + version(a) + `"}}`)
	c.json("POST /api/v1/namespaces/default/configmaps\n\n" + `{"metadata": {"name": "b", "ownerReferences": [
		{"apiVersion": "v1", "kind": "ConfigMap", "name": "` + name + `", "uid": "` + meta["uid"].(string) + `"}]}}`)
	events.Scan()
	page := c.json("GET /api/v1/namespaces/default/configmaps?limit=1")
	token := page["metadata"].(map[string]any)["continue"].(string)
	c.json("GET /api/v1/namespaces/default/configmaps?limit=1&continue=" + token)
	c.json("GET /api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3D" + name + "&resourceVersion=" + version(a) + "&resourceVersionMatch=Exact")
	watch.Body.Close()
	c.json("DELETE /api/v1/namespaces/default/configmaps/" + name)
	c.json("GET /api/v1/namespaces/default/configmaps/" + name + "\nAccept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
}

func version(o map[string]any) string {
	return o["metadata"].(map[string]any)["resourceVersion"].(string)
}

// A recorded session can be played against another server.
func TestPlayRecording(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory())
		put(t, srv, configMap("default", "x", "1"), configMap("default", "y", "1"))
		r, c := record(t, srv, scenarios.Secret{Resource: "configmaps", Path: "data.password"})
		session(c)
		synctest.Wait()
		text, err := scenarios.Format(r.Scenario())
		require.NoError(t, err)
		assert.NotContains(t, string(text), "hunter2")
		golden(t, "testdata/session.yaml", text)

		other := fakeapi.Start(t, fakeapi.WithInMemory())
		for n := range 5 {
			put(t, other, configMap("kube-system", "elsewhere", strconv.Itoa(n))) // for other resource versions
		}
		put(t, other, configMap("default", "x", "1"), configMap("default", "y", "1"))
		scenarios.Play(t, other, "testdata/session.yaml")
	})
}

// replay runs a client against a replayer and returns the reported problems and the
// remaining requests.
func replay(t *testing.T, s *scenarios.Scenario, run func(c *recordedClient)) []string {
	t.Helper()
	var problems []string
	replayer, err := scenarios.NewReplayer(s, func(problem string) { problems = append(problems, problem) })
	require.NoError(t, err)
	_, c := record(t, replayer)
	run(c)
	return append(problems, replayer.Remaining()...)
}

// A recorded session can be replayed to the same client.
func TestReplayRecording(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := scenarios.Load("testdata/session.yaml")
		require.NoError(t, err)
		assert.Empty(t, replay(t, f.Scenarios[0], session))
	})
}

// A replayer answers in the media types of the recorded server.
func TestReplayMediaTypes(t *testing.T) {
	for _, accept := range []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/cbor"} {
		t.Run(accept, func(t *testing.T) {
			run := func(c *recordedClient) {
				c.json("GET /api/v1/namespaces/default/configmaps\nAccept: " + accept)
				c.json("GET /api/v1/namespaces/default/configmaps/none\nAccept: " + accept)
				if accept != "application/yaml" {
					watch := c.do("GET /api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Da\nAccept: " + accept)
					_, err := io.Copy(io.Discard, watch.Body)
					require.NoError(t, err)
				}
			}
			synctest.Test(t, func(t *testing.T) {
				srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"CBORServingAndStorage": true}}))
				put(t, srv, configMap("default", "a", "1"))
				first, c := record(t, srv)
				run(c)
				synctest.Wait()
				var problems []string
				replayer, err := scenarios.NewReplayer(first.Scenario(), func(problem string) { problems = append(problems, problem) })
				require.NoError(t, err)
				second, c := record(t, replayer)
				run(c)
				synctest.Wait()
				assert.Empty(t, problems)
				assert.Empty(t, replayer.Remaining())
				assert.Equal(t, asWanted(t, first), asWanted(t, second))
			})
		})
	}
}

// asWanted returns a recording without offsets and headers.
func asWanted(t *testing.T, r *scenarios.Recorder) string {
	t.Helper()
	s := r.Scenario()
	for i := range s.Steps {
		s.Steps[i].At, s.Steps[i].Want.Headers = 0, nil
	}
	text, err := scenarios.Format(s)
	require.NoError(t, err)
	return string(text)
}

// golden compares text with a file, or writes it with -rewrite.
func golden(t *testing.T, name string, text []byte) {
	t.Helper()
	if *rewrite {
		require.NoError(t, os.WriteFile(name, text, 0o644))
	}
	want, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, string(want), string(text))
}

// steps returns the steps of a recording from an index on.
func steps(r *scenarios.Recorder, from int) []scenarios.Step { return r.Scenario().Steps[from:] }

// Request bodies of all media types are recorded as JSON without their secrets.
func TestRecordBodies(t *testing.T) {
	for _, row := range []struct{ name, contentType, body, wantType, want string }{
		{"JSON", "application/json", `{"stringData":{"a":"x!"}}`, "", `{"stringData":{"a":"scrubbed-1"}}`},
		{"YAML", "application/yaml", `stringData: {a: x!}`, "application/yaml", `{"stringData":{"a":"scrubbed-1"}}`},
		{"apply", "application/apply-patch+yaml", `stringData: {a: x!}`, "application/apply-patch+yaml", `{"stringData":{"a":"scrubbed-1"}}`},
		{"merge patch", "application/merge-patch+json", `{"stringData":{"a":"x!"}}`, "application/merge-patch+json", `{"stringData":{"a":"scrubbed-1"}}`},
		{"JSON patch", "application/json-patch+json", `[{"op":"add","path":"/stringData/a","value":"x!"}]`, "application/json-patch+json", `[{"op":"add","path":"/stringData/a","value":"scrubbed-1"}]`},
		{"CBOR", "application/cbor", "\xa1\x6astringData\xa1\x61a\x62x!", "", `{"stringData":{"a":"scrubbed-1"}}`},
		{"apply in CBOR", "application/apply-patch+cbor", "\xa1\x6astringData\xa1\x61a\x62x!", "application/apply-patch+yaml", `{"stringData":{"a":"scrubbed-1"}}`},
		{"protobuf", "application/vnd.kubernetes.protobuf", "k8s\x00\x0a\x0c\x0a\x02v1\x12\x06Secret\x12\x09\x12\x07\x0a\x01a\x12\x02x!", "", `{"kind":"Secret","apiVersion":"v1","metadata":{},"data":{"a":"c2NydWJiZWQtMQ=="}}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, c := record(t, http.NotFoundHandler())
			c.json("POST /api/v1/namespaces/default/secrets\nContent-Type: " + row.contentType + "\n\n" + row.body)
			st := steps(r, 0)[0]
			got, err := json.Marshal(st.Body)
			require.NoError(t, err)
			assert.JSONEq(t, row.want, string(got))
			assert.Equal(t, row.wantType, st.Type)
		})
	}
}

func TestRecordUndecodableBodies(t *testing.T) {
	r, c := record(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/nothing" {
			return
		}
		if r.URL.Path == "/broken" {
			w.Write([]byte("half"))
			panic(http.ErrAbortHandler)
		}
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain")
		w.Write(append([]byte(r.Header.Get("Accept-Encoding")), body...))
	}))
	c.json("POST /echo\nContent-Type: text/plain\nAccept-Encoding: gzip\n\nhello")
	c.json("POST /echo\nContent-Type: text/plain\n\n\xff")
	c.json("GET /nothing")
	_, err := c.Get(c.url + "/broken")
	require.Error(t, err)
	got := steps(r, 0)
	require.Len(t, got, 3, "an incomplete answer is not recorded")
	assert.Equal(t, "hello", got[0].Raw)
	assert.Equal(t, "hello", got[0].Want.Body, "the recorder turns off compression")
	assert.Equal(t, "/w==", got[1].Base64)
	assert.Equal(t, http.StatusOK, got[2].Want.Status)
	assert.Nil(t, got[2].Want.Body)
}

// Events of all media types are recorded, and whether the server ended the watch.
func TestRecordWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"CBORServingAndStorage": true}}))
		r, c := record(t, srv)
		for _, accept := range []string{"application/json", "application/vnd.kubernetes.protobuf", "application/cbor"} {
			watch := c.do("GET /api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=90&allowWatchBookmarks=true&fieldSelector=metadata.name%3Da\nAccept: " + accept)
			put(t, srv, configMap("default", "a", "1"))
			require.NoError(t, srv.Remove("configmaps", "default", "a"))
			if accept == "application/json" {
				synctest.Wait()
				watch.Body.Close()
				continue
			}
			_, err := io.Copy(io.Discard, watch.Body)
			require.NoError(t, err)
		}
		synctest.Wait()
		var lines []string
		for _, st := range steps(r, 0) {
			line := st.String()
			for _, e := range st.Want.Events {
				line += " " + e.(map[string]any)["type"].(string)
			}
			if st.Ends {
				line += " end at " + st.At.String()
			}
			lines = append(lines, line)
		}
		const path = "/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=90&allowWatchBookmarks=true&fieldSelector=metadata.name%3Da"
		assert.Equal(t, []string{
			"watch " + path, "events of w1 BOOKMARK ADDED DELETED",
			"watch " + path, "events of w2 BOOKMARK ADDED DELETED end at 1m30s",
			"watch " + path, "events of w3 BOOKMARK ADDED DELETED end at 3m0s",
		}, lines)
	})
}

// A recording without secrets plays: the server accepts its placeholders, and where it makes a
// secret itself, any value is right. ShowSecrets keeps secrets.
func TestPlayScrubbed(t *testing.T) {
	const secrets, configMaps = "/api/v1/namespaces/default/secrets", "/api/v1/namespaces/default/configmaps"
	for _, show := range []bool{false, true} {
		t.Run("show="+strconv.FormatBool(show), func(t *testing.T) {
			r, c := record(t, fakeapi.Start(t))
			if show {
				r.ShowSecrets()
			}
			c.json("POST " + secrets + "\n\n" + `{"metadata":{"name":"a"},"stringData":{"password":"hunter2!","same":"hunter2!"}}`)
			c.json("PUT " + secrets + "/a\n\n" + `{"metadata":{"name":"a"},"data":{"password":"aHVudGVyMiE=","other":"aHVudGVyMw=="}}`)
			c.json("POST " + secrets + "\n\n" + `{"metadata":{"name":"docker"},"type":"kubernetes.io/dockerconfigjson","stringData":{".dockerconfigjson":"{\"auths\":{\"hunter2\":{}}}"}}`)
			c.json("POST " + configMaps + "\n\n" + `{"metadata":{"name":"c"},"data":{"a":"Bearer hunter2hunter2hunter2","b":"https://x:hunter2@host/"}}`)
			c.json("POST /api/v1/namespaces/default/serviceaccounts\n\n" + `{"metadata":{"name":"s"}}`)
			token := c.json("POST /api/v1/namespaces/default/serviceaccounts/s/token\n\n{}")["status"].(map[string]any)["token"].(string)
			kubeconfig := c.json("POST /debug/fakeapi/kubeconfig\n\n{}")["token"].(string)
			c.json("GET " + secrets)
			text, err := scenarios.Format(r.Scenario())
			require.NoError(t, err)
			for _, secret := range []string{"hunter2", "aHVudGVyM", token, kubeconfig} {
				assert.Equal(t, show, strings.Contains(string(text), secret), secret)
			}
			if !show {
				file := filepath.Join(t.TempDir(), "recording.yaml")
				require.NoError(t, os.WriteFile(file, text, 0o600))
				scenarios.Play(t, fakeapi.Start(t), file)
			}
		})
	}
}

// No secret is in a recording, however it is sent.
func TestRecordScrubs(t *testing.T) {
	const token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJlMTIz"
	const secrets = "/api/v1/namespaces/default/secrets"
	for _, row := range []struct{ name, request, answerType, answer string }{
		{"JSON that is cut off", "POST " + secrets + "\n\n" + `{"stringData":{"a":"hunter2`, "application/json", "{}"},
		{"YAML that is invalid", "POST " + secrets + "\nContent-Type: application/yaml\n\nstringData: {a: hunter2", "application/json", "{}"},
		{"YAML that is declared as JSON", "POST " + secrets + "\n\nstringData: {a: hunter2}", "application/json", "{}"},
		{"protobuf that is cut off", "POST " + secrets + "\nContent-Type: application/vnd.kubernetes.protobuf\n\nk8s\x00\x0a\x0c\x0a\x02v1\x12\x06Secret\x12\x20\x12\x07hunter2", "application/json", "{}"},
		{"CBOR that is cut off", "POST " + secrets + "\nContent-Type: application/cbor\n\n\xa2\x6astringData\xa1\x61a\x67hunter2", "application/json", "{}"},
		{"CBOR with bytes", "POST " + secrets + "\nContent-Type: application/cbor\n\n\xa1\x64data\xa1\x61a\x47hunter2", "application/json", "{}"},
		{"patch of an unknown type", "PATCH " + secrets + "/a\nContent-Type: application/x-patch\n\n-hunter2", "application/json", "{}"},
		{"JSON patch", "PATCH " + secrets + "/a\nContent-Type: application/json-patch+json\n\n" + `[{"op":"test","path":"/stringData/a","value":"hunter2"}]`, "application/json", "{}"},
		{"answer that is cut off", "GET " + secrets + "/a", "application/json", `{"data":{"a":"hunter2`},
		{"answer in protobuf that is cut off", "GET " + secrets + "/a", "application/vnd.kubernetes.protobuf", "k8s\x00hunter2"},
		{"answer in CBOR that is cut off", "GET " + secrets + "/a", "application/cbor", "\xa2\x64data\xa1\x61a\x67hunter2"},
		{"answer of an unknown type", "GET " + secrets + "/a", "", "hunter2"},
		{"list", "GET " + secrets, "application/json", `{"kind":"SecretList","items":[{"stringData":{"a":"hunter2"}}]}`},
		{"Table", "GET " + secrets, "application/json", `{"kind":"Table","rows":[{"cells":["a"],"object":{"stringData":{"a":"hunter2"}}}]}`},
		{"watch", "GET " + secrets + "?watch=1", "application/json", `{"type":"ADDED","object":{"stringData":{"a":"hunter2"}}}` + "\n"},
		{"watch of Tables", "GET " + secrets + "?watch=1", "application/json", `{"type":"ADDED","object":{"kind":"Table","rows":[{"object":{"stringData":{"a":"hunter2"}}}]}}` + "\n"},
		{"watch that is invalid", "GET " + secrets + "?watch=1", "application/json", `{"type":"ADDED","object":{"stringData":{"a":"hunter2` + "\n"},
		{"token request", "POST /api/v1/namespaces/default/serviceaccounts/a/token\n\n{}", "application/json", `{"status":{"token":"hunter2"}}`},
		{"token review", "POST /apis/authentication.k8s.io/v1/tokenreviews\n\n" + `{"spec":{"token":"hunter2"}}`, "application/json", "{}"},
		{"query", "GET /api/v1/namespaces/default/services/a/proxy/?access_token=hunter2&token=hunter2", "text/plain", "ok"},
		{"token in a query", "GET /api/v1/pods?x=" + token, "application/json", "{}"},
		{"headers", "GET /api/v1/pods\nAuthorization: Bearer hunter2\nProxy-Authorization: hunter2\nCookie: a=hunter2\nX-Auth-Token: hunter2\n" +
			"Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.hunter2\nUser-Agent: a " + token, "application/json", "{}"},
		{"WebSocket", "GET /api/v1/namespaces/default/pods/a/exec?command=hunter2\nUpgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.hunter2", "", "hunter2"},
		{"kubeconfig in a ConfigMap", "PUT /api/v1/namespaces/default/configmaps/a\n\n" + `{"data":{"kubeconfig":"clusters: []\nusers:\n- user:\n    token: hunter2\n"}}`, "application/json", "{}"},
		{"password in a URL", "PUT /api/v1/namespaces/default/configmaps/a\n\n" + `{"data":{"url":"postgres://shop:hunter2@db/shop"}}`, "application/json", "{}"},
		{"answer of the control endpoint", "POST /debug/fakeapi/kubeconfig\n\n{}", "application/json", `{"kubeconfig":"clusters: []\nusers:\n- user:\n    token: hunter2\n","token":"hunter2"}`},
		{"token in an answer", "GET /api/v1/namespaces/default/configmaps/a", "application/json", `{"data":{"a":"` + token + `"}}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", row.answerType)
				w.Header().Set("Set-Cookie", "a=hunter2")
				io.WriteString(w, row.answer)
			})
			path := filepath.Join(t.TempDir(), "out.yaml")
			f, err := scenarios.CreateRecording(path)
			require.NoError(t, err)
			for _, r := range []*scenarios.Recorder{scenarios.Record(next), scenarios.RecordTo(f, next)} {
				h, err := httptest.Start(r, httptest.Options{InMemory: true})
				require.NoError(t, err)
				(&recordedClient{t, h.URL, &http.Client{Transport: h.InMemory()}}).json(row.request)
				h.Close()
				text, err := scenarios.Format(r.Scenario())
				require.NoError(t, err)
				require.NoError(t, r.Close())
				partial, err := os.ReadFile(f.Partial())
				require.NoError(t, err)
				for _, s := range []string{string(text), string(partial)} {
					assert.NotContains(t, s, "hunter2")
					assert.NotContains(t, s, "aHVudGVyMg") // in base64
					assert.NotContains(t, s, token)
				}
			}
		})
	}
}
