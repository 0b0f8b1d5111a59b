//go:build go1.24

package custom_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// Gets and deletions of the newest state call the conversion webhook, although the object has
// been converted before. Lists do not.
func TestConversionWebhookFails(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), apitest.Hooked())
	var down atomic.Bool
	_, err := srv.InstallWebhooks(fakeapi.WebhookOptions{Convert: []string{"toys.example.com"}, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			http.Error(w, "down", http.StatusInternalServerError)
			return
		}
		apitest.Admit(w, r)
	})})
	require.NoError(t, err)
	const v1, v2 = "/apis/example.com/v1/namespaces/default/toys", "/apis/example.com/v2/namespaces/default/toys"
	code, _ := apitest.Do(t, srv, "POST", v2, `{"apiVersion":"example.com/v2","kind":"Toy","metadata":{"name":"x"}}`)
	require.Equal(t, http.StatusCreated, code)
	code, _ = apitest.Do(t, srv, "GET", v2, "")
	require.Equal(t, http.StatusOK, code)
	down.Store(true)
	for _, tt := range []struct {
		method, path string
		code         int
	}{
		{"GET", v2 + "/x", 500}, {"GET", v1 + "/x", 200}, {"GET", v2 + "/x?resourceVersion=0", 200}, {"GET", v2, 200},
		{"DELETE", v2 + "/x?dryRun=All", 500}, {"DELETE", v2 + "/x", 500}, {"DELETE", v1 + "/x", 200},
	} {
		code, obj := apitest.Do(t, srv, tt.method, tt.path, "")
		assert.Equal(t, tt.code, code, "%s %s: %v", tt.method, tt.path, obj["message"])
	}
}

// A list of objects of which a webhook does not convert all names those that cannot be read. Recorded from
// kube-apiserver v1.37.2.
func TestListsOfUnconverted(t *testing.T) {
	for _, gate := range []bool{true, false} {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), apitest.Hooked(), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"AllowUnsafeMalformedObjectDeletion": gate}}))
		_, err := srv.InstallWebhooks(fakeapi.WebhookOptions{Convert: []string{"toys.example.com"}, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			assert.NotContains(t, string(body), "resourceVersion", "a webhook does not see it")
			if strings.Contains(string(body), `"name":"bad-`) {
				var review struct{ Request struct{ UID string } }
				assert.NoError(t, json.Unmarshal(body, &review))
				fmt.Fprintf(w, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":%q,"result":{"status":"Failure","message":"it is bad"}}}`, review.Request.UID)
				return
			}
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			apitest.Admit(w, r)
		})})
		require.NoError(t, err)
		const v1, v2 = "/apis/example.com/v1/namespaces/default/toys", "/apis/example.com/v2/namespaces/default/toys"
		for _, name := range []string{"bad-a", "good", "bad-b"} {
			require.Equal(t, 201, apitest.Code(t, srv, "POST", v1, `{"apiVersion":"example.com/v1","kind":"Toy","metadata":{"name":"`+name+`"}}`))
		}
		const (
			failed = "failed to read one or more toys.example.com from the storage: StorageError: corrupt object, Code: 7, Key: /registry/example.com/toys/default/bad-a, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision="
			cached = "storage is (re)initializing: failed to list <unspecified>: " + failed
		)
		for _, tt := range []struct {
			method, query string
			code, causes  int
			message       string
		}{
			{"GET", "", 429, 0, cached},
			{"GET", "?resourceVersion=0", 429, 0, cached},
			{"GET", "?watch=true", 429, 0, cached},
			{"GET", "?limit=5", 500, 2, failed},
			{"DELETE", "", 500, 2, failed},
		} {
			if !gate && tt.query == "?watch=true" {
				continue // the error is an event
			}
			code, answer := apitest.Do(t, srv, tt.method, v2+tt.query, "")
			if !gate {
				assert.Equal(t, 500, code)
				assert.Equal(t, "conversion webhook for example.com/v1, Kind=Toy failed: it is bad", answer["message"])
				continue
			}
			assert.Equal(t, tt.code, code, tt)
			assert.Contains(t, answer["message"], tt.message)
			assert.Contains(t, answer["message"], ": conversion webhook for example.com/v1, Kind=Toy failed: it is bad (and 1 more)")
			causes, _ := answer["details"].(map[string]any)["causes"].([]any)
			assert.Len(t, causes, tt.causes)
		}
		assert.Equal(t, 200, apitest.Code(t, srv, "GET", v1, ""), "their own version is read")
		assert.Equal(t, 200, apitest.Code(t, srv, "GET", v2+"/good", ""))
	}
}

// The answer of a conversion webhook is decoded as an object of the API: by its kind, and names of
// members match exactly. The answer to the reader ends with the error.
func TestConversionReviews(t *testing.T) {
	const (
		failed   = "conversion webhook for example.com/v1, Kind=Toy failed: "
		review   = `"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"`
		response = `"uid":%q,"result":{"status":"Success"},"convertedObjects":[%s]`
	)
	for _, tt := range []struct{ name, answer, want string }{
		{"as it is sent", `{` + review + `,"response":{` + response + `}}`, ""},
		{"YAML", "apiVersion: apiextensions.k8s.io/v1\nkind: ConversionReview\nresponse: {" + response + "}", ""},
		{"another case of response", `{` + review + `,"Response":{` + response + `}}`, failed + "no response provided"},
		{"another case of uid", `{` + review + `,"response":{"UID":%q,"result":{"status":"Success"},"convertedObjects":[%s]}}`, failed + `expected response.uid="{uid}", got ""`},
		{"no kind", `{"response":{` + response + `}}`, failed + "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind="},
		{"another kind", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","a":{` + response + `}}`, failed + "converting (v1.CustomResourceDefinition) to (v1.ConversionReview): unknown conversion"},
		{"a field of a wrong type", `{` + review + `,"response":{"uid":3,"a":{` + response + `}}}`, failed + "json: cannot unmarshal number into Go struct field ConversionResponse.response.uid of type types.UID"},
		{"an invalid media type", "a/b/c", failed + "Internal error occurred: mime: unexpected content after media subtype"},
		{"null for an object", `{` + review + `,"response":{"a":{` + response + `},"uid":"{uid}","result":{"status":"Success"},"convertedObjects":[null]}}`, "unexpected end of JSON input"},
		{"an object with an invalid apiVersion", `{` + review + `,"response":{"a":{` + response + `},"uid":"{uid}","result":{"status":"Success"},"convertedObjects":[{"apiVersion":"a/b/c","kind":"Toy"}]}}`, `Object 'Kind' is missing in '{"apiVersion":"a/b/c","kind":"Toy"}'`},
		{"an object without kind", `{` + review + `,"response":{"a":{` + response + `},"uid":"{uid}","result":{"status":"Success"},"convertedObjects":[{}]}}`, "Object 'Kind' is missing in '{}'"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), apitest.Hooked())
			var uid string
			_, err := srv.InstallWebhooks(fakeapi.WebhookOptions{Convert: []string{"toys.example.com"}, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var asked struct {
					Request struct {
						UID     string           `json:"uid"`
						Objects []map[string]any `json:"objects"`
					} `json:"request"`
				}
				assert.NoError(t, json.NewDecoder(r.Body).Decode(&asked))
				uid = asked.Request.UID
				asked.Request.Objects[0]["apiVersion"] = "example.com/v2"
				object, err := json.Marshal(asked.Request.Objects[0])
				assert.NoError(t, err)
				if !strings.Contains(tt.answer, "%") {
					w.Header().Set("Content-Type", tt.answer)
				}
				_, _ = fmt.Fprintf(w, strings.ReplaceAll(tt.answer, "{uid}", uid), uid, object)
			})})
			require.NoError(t, err)
			code, obj := apitest.Do(t, srv, "POST", "/apis/example.com/v1/namespaces/default/toys", `{"apiVersion":"example.com/v1","kind":"Toy","metadata":{"name":"x"}}`)
			require.Equal(t, http.StatusCreated, code, obj)
			_, obj = apitest.Do(t, srv, "GET", "/apis/example.com/v2/namespaces/default/toys/x", "")
			if tt.want == "" {
				assert.Equal(t, "example.com/v2", obj["apiVersion"])
				return
			}
			assert.Regexp(t, regexp.QuoteMeta(strings.ReplaceAll(tt.want, "{uid}", uid))+"$", obj["message"])
		})
	}
}

// An apply that leaves nothing to its manager converts an object without metadata, which no webhook
// is asked for.
func TestConversionOfNothing(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), apitest.Hooked())
	_, err := srv.InstallWebhooks(fakeapi.WebhookOptions{Convert: []string{"toys.example.com"}, Handler: http.HandlerFunc(apitest.Admit)})
	require.NoError(t, err)
	for _, tt := range []struct{ version, metadata string }{{"v1", `,"labels":{"a":"b"}`}, {"v2", ""}} {
		code, obj := apitest.DoWithHeaders(t, srv, "PATCH", "/apis/example.com/"+tt.version+"/namespaces/default/toys/x?fieldManager=m",
			`{"apiVersion":"example.com/`+tt.version+`","kind":"Toy","metadata":{"name":"x"`+tt.metadata+`}}`, "Content-Type", "application/apply-patch+yaml")
		assert.Less(t, code, 300, obj)
	}
}

// The result of an apply is not decoded before a webhook converts it: the webhook gets the nulls among
// labels and annotations, and must not return them. Recorded from kube-apiserver v1.37.2.
func TestConversionOfNullTexts(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), apitest.Hooked())
	_, err := srv.InstallWebhooks(fakeapi.WebhookOptions{Convert: []string{"toys.example.com"}, Handler: http.HandlerFunc(apitest.Admit)})
	require.NoError(t, err)
	const (
		apply   = "application/apply-patch+yaml"
		json    = "application/json"
		jsonP   = "application/json-patch+json"
		invalid = "conversion webhook for example.com/v2, Kind=Toy returned invalid metadata: metadata."
	)
	for _, tt := range []struct {
		name, version, method, path, media, body string
		code                                     int
		want                                     any // the labels, or the error
	}{
		{"apply that creates", "v2", "PATCH", "/a?fieldManager=m", apply, `{"labels":{"b":null}}`, 500, invalid + "labels[b] must be a string, but is <nil> in converted object"},
		{"an annotation", "v2", "PATCH", "/a?fieldManager=m", apply, `{"annotations":{"b":null}}`, 500, invalid + "annotations[b] must be a string, but is <nil> in converted object"},
		{"a dry run", "v2", "PATCH", "/a?fieldManager=m&dryRun=All", apply, `{"labels":{"b":null}}`, 500, invalid + "labels[b] must be a string, but is <nil> in converted object"},
		{"stored version", "v1", "PATCH", "/a?fieldManager=m", apply, `{"labels":{"b":null}}`, 201, map[string]any{"b": ""}},
		{"apply that changes", "v2", "PATCH", "/a?fieldManager=n", apply, `{"labels":{"c":null}}`, 500, "failed to convert new object: " + invalid + "labels[c] must be a string, but is <nil> in converted object"},
		{"null for all labels", "v2", "PATCH", "/b?fieldManager=m", apply, `{"labels":null}`, 201, nil},
		{"create", "v2", "POST", "", json, `{"labels":{"b":null}}`, 201, map[string]any{"b": ""}},
		{"JSON patch", "v2", "PATCH", "/x", jsonP, `[{"op":"add","path":"/metadata/labels","value":{"d":null}}]`, 200, map[string]any{"d": ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := tt.body
			if tt.media != jsonP {
				name, _, _ := strings.Cut(strings.TrimPrefix(tt.path, "/"), "?")
				if name == "" {
					name = "x"
				}
				body = `{"apiVersion":"example.com/` + tt.version + `","kind":"Toy","metadata":{"name":"` + name + `",` + tt.body[1:] + `}`
			}
			code, obj := apitest.DoWithHeaders(t, srv, tt.method, "/apis/example.com/"+tt.version+"/namespaces/default/toys"+tt.path, body, "Content-Type", tt.media)
			assert.Equal(t, tt.code, code)
			if text, fails := tt.want.(string); fails {
				assert.Equal(t, text, obj["message"])
				return
			}
			assert.Equal(t, tt.want, obj["metadata"].(map[string]any)["labels"])
		})
	}
}

// Writes over versions call the webhook where kube-apiserver does: it encodes the object of the watch
// cache before a change, and reads etcd if the change fails or changes nothing. A dry run reads etcd.
// Recorded from kube-apiserver v1.37.2.
func TestConversionsOfWrites(t *testing.T) {
	const (
		undecodable = `^object not decodable revision=\d+: conversion webhook for example.com/v1, Kind=Toy failed: an error on the server \("down"\) has prevented the request from succeeding$`
		corrupt     = `^Internal error occurred: StorageError: corrupt object, Code: 7, Key: /example.com/toys/default/x, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=\d+: conversion webhook for example.com/v1, Kind=Toy failed: `
		encoding    = `^conversion webhook for example.com/v2, Kind=Toy failed: an error on the server \("down"\) has prevented the request from succeeding$`
		toy         = `{"apiVersion":"example.com/v2","kind":"Toy","metadata":{"name":"x"}}`
	)
	for _, tt := range []struct {
		name, fails, method, path, body, want string
	}{
		{"create that cannot be read back", "v2", "POST", "", strings.Replace(toy, `"x"`, `"y"`, 1), undecodable},
		{"dry run of it", "v2", "POST", "?dryRun=All", strings.Replace(toy, `"x"`, `"y"`, 1), strings.Replace(encoding, "v2", "v1", 1)},
		{"change that cannot be read back", "v2", "PATCH", "/x", `{"a":"b"}`, undecodable},
		{"change that cannot be stored", "v1", "PATCH", "/x", `{"a":"b"}`, encoding},
		{"dry run of a change", "v2", "PATCH", "/x?dryRun=All", `{"a":"b"}`, corrupt},
		{"change of nothing", "v2", "PATCH", "/x", `{}`, undecodable},
		{"invalid change", "v2", "PATCH", "/x", `{"metadata":{"uid":"a"}}`, undecodable},
		{"invalid change of what cannot be stored", "v1", "PATCH", "/x", `{"metadata":{"uid":"a"}}`, encoding},
		{"update without a version", "v2", "PUT", "/x", toy, undecodable},
		{"dry run of an update without a version", "v2", "PUT", "/x?dryRun=All", toy, corrupt},
		{"delete", "v2", "DELETE", "/x", "", corrupt},
		{"delete with a precondition that does not hold", "v2", "DELETE", "/x", `{"preconditions":{"uid":"a"}}`, corrupt},
		{"delete of what cannot be stored", "v1", "DELETE", "/x", "", encoding},
		{"dry run of it", "v1", "DELETE", "/x?dryRun=All", "", ""},
		{"deletecollection", "v2", "DELETE", "", "", corrupt},
		{"deletecollection of what cannot be stored", "v1", "DELETE", "", "", encoding},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), apitest.Hooked())
			var fails atomic.Pointer[string]
			_, err := srv.InstallWebhooks(fakeapi.WebhookOptions{Convert: []string{"toys.example.com"}, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				assert.NoError(t, err)
				if version := fails.Load(); version != nil && strings.Contains(string(body), `"desiredAPIVersion":"example.com/`+*version+`"`) {
					http.Error(w, "down", http.StatusInternalServerError)
					return
				}
				r.Body = io.NopCloser(strings.NewReader(string(body)))
				apitest.Admit(w, r)
			})})
			require.NoError(t, err)
			const v1, v2 = "/apis/example.com/v1/namespaces/default/toys", "/apis/example.com/v2/namespaces/default/toys"
			require.Equal(t, 201, apitest.Code(t, srv, "POST", v1, `{"apiVersion":"example.com/v1","kind":"Toy","metadata":{"name":"x"}}`))
			require.Equal(t, 200, apitest.Code(t, srv, "GET", v2, "")) // the watch cache has it
			fails.Store(&tt.fails)
			code, obj := apitest.Do(t, srv, tt.method, v2+tt.path, tt.body)
			if tt.want == "" {
				assert.Equal(t, 200, code, obj)
				return
			}
			assert.Equal(t, 500, code)
			assert.Regexp(t, tt.want, obj["message"])
			assert.Equal(t, 200, apitest.Code(t, srv, "GET", v1+"/x", ""))
		})
	}
}
