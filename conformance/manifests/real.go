package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/header"
	"github.com/kubefake/kubefake/internal/route"
	"golang.org/x/sync/errgroup"
)

// effective are the kinds that take effect on others, in the order in which they are stored.
var effective = []string{
	"CustomResourceDefinition",
	"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
	"Namespace",
	"ServiceAccount", "LimitRange", "PriorityClass", "StorageClass", "VolumeAttributesClass", "CSIDriver", "IngressClass", "RuntimeClass",
	"DeviceClass", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding",
	"ResourceQuota",
}

func takesEffect(o *object) bool { return slices.Contains(effective, o.kind) }

// A real server is asked as kubectl does.
type realServer struct {
	url, token string
	client     *http.Client
	resources  map[string]map[string]resource // by apiVersion and kind
	before     map[string]map[string]any      // the objects of the base by their paths; nil without one
}

// A resource is what the server serves of a kind.
type resource struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	Namespaced bool   `json:"namespaced"`
}

// attempts is how often an object is sent whose answer differs. The chance of an order of a small map
// may be one in eight.
const attempts = 50

// theirs returns what the real server answers: the answer that is like ours if there is one.
func (o *options) theirs(ctx context.Context, base, objects []*object, ours []answer) ([]answer, error) {
	s := &realServer{url: o.real, token: o.token, client: &http.Client{Transport: &http.Transport{
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true},
		MaxIdleConnsPerHost: o.parallel,
	}}}
	defer s.client.CloseIdleConnections()
	answers := make([]answer, len(objects))
	s.resources = map[string]map[string]resource{}
	if base != nil {
		if err := s.storeBase(ctx, o, base, objects); err != nil {
			return nil, err
		}
		clear(s.resources)
	}
	for _, kind := range effective {
		for i, object := range objects {
			if object.kind != kind {
				continue
			}
			if err := s.discover(ctx, object.apiVersion); err != nil {
				return nil, err
			}
			if err := s.createNamespace(ctx, object); err != nil {
				return nil, err
			}
			var err error
			if answers[i], err = s.apply(ctx, object, false); err != nil {
				return nil, err
			}
			if answers[i].accepted() {
				if err := s.afterApply(ctx, object); err != nil {
					return nil, err
				}
			}
		}
		if kind == "CustomResourceDefinition" || kind == "ResourceQuota" {
			if err := sleep(ctx, o.patience); err != nil {
				return nil, err
			}
		}
	}
	s.resources = map[string]map[string]resource{} // with those of the definitions
	for _, object := range objects {
		if err := s.discover(ctx, object.apiVersion); err != nil {
			return nil, err
		}
		if err := s.createNamespace(ctx, object); err != nil {
			return nil, err
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(o.parallel)
	for i, object := range objects {
		if takesEffect(object) {
			continue
		}
		g.Go(func() (err error) {
			answers[i], err = s.ask(ctx, object, ours[i])
			return err
		})
	}
	return answers, g.Wait()
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// discover learns the resources of a group and version.
func (s *realServer) discover(ctx context.Context, apiVersion string) error {
	if s.resources[apiVersion] != nil {
		return nil
	}
	code, _, body, err := s.send(ctx, "GET", route.VersionPath(apiVersion), "", nil)
	if err != nil {
		return err
	}
	var list struct{ Resources []resource }
	if code == http.StatusOK {
		if err := json.Unmarshal(body, &list); err != nil {
			return err
		}
	}
	kinds := map[string]resource{}
	for _, r := range list.Resources {
		if !strings.Contains(r.Name, "/") {
			kinds[r.Kind] = r
		}
	}
	s.resources[apiVersion] = kinds
	return nil
}

// createNamespace creates the namespace of an object unless it exists.
func (s *realServer) createNamespace(ctx context.Context, o *object) error {
	r, ok := s.resources[o.apiVersion][o.kind]
	if !ok || !r.Namespaced || o.namespace == "" {
		return nil
	}
	body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, o.namespace)
	_, _, _, err := s.send(ctx, "POST", "/api/v1/namespaces", "application/json", body)
	return err
}

// apply sends an object as kubectl apply --server-side does.
func (s *realServer) apply(ctx context.Context, o *object, dryRun bool) (answer, error) {
	if _, ok := s.resources[o.apiVersion][o.kind]; !ok {
		return missingKind, nil
	}
	path := s.path(o)
	before := s.before[path]
	path += "?fieldManager=kubectl&fieldValidation=Strict&force=false"
	if dryRun {
		path += "&dryRun=All"
	}
	code, headers, body, err := s.send(ctx, "PATCH", path, "application/apply-patch+yaml", o.body)
	if err != nil {
		return answer{}, err
	}
	a := answer{code: code, warnings: warningsOf(headers)}
	if !a.accepted() {
		var status struct{ Reason, Message string }
		if err := json.Unmarshal(body, &status); err != nil {
			return answer{}, fmt.Errorf("%s: %w: %s", o.origin, err, body)
		}
		a.reason, a.message = status.Reason, status.Message
	} else if s.before != nil {
		a.state, a.changes, err = o.update(before, body)
	}
	return a, err
}

// ask returns ours if it is one of the answers of the real server, otherwise an answer of it.
func (s *realServer) ask(ctx context.Context, o *object, ours answer) (answer, error) {
	var all []answer
	for range attempts {
		a, err := s.apply(ctx, o, true)
		if err != nil || compare(a, ours) == "" {
			return ours, err
		}
		all = append(all, a)
	}
	if oneOf(all, ours) {
		return ours, nil
	}
	return all[0], nil
}

// oneOf reports whether ours may be an answer of a server that finds the errors of an object in
// random order and gives up at one of them: it differs in errors only, all of which are in some
// answer, and has those that are in every answer.
func oneOf(all []answer, ours answer) bool {
	times := map[string]int{}
	for _, a := range all {
		errors := parts(a.message)
		if a.message = ours.message; compare(a, ours) != "" {
			return false
		}
		for _, e := range slices.Compact(errors) {
			times[e]++
		}
	}
	for _, e := range slices.Compact(parts(ours.message)) {
		if times[e] == 0 {
			return false
		}
		delete(times, e)
	}
	for _, n := range times {
		if n == len(all) {
			return false
		}
	}
	return true
}

// afterApply does what package manifests does after an object is stored: a quota that nothing uses
// applies, and versions of custom resources are converted without a webhook.
func (s *realServer) afterApply(ctx context.Context, o *object) error {
	switch path := s.path(o); o.kind {
	case "ResourceQuota":
		stored, err := s.get(ctx, path)
		if err != nil {
			return err
		}
		spec, _ := stored["spec"].(map[string]any)
		hard, _ := spec["hard"].(map[string]any)
		used := map[string]any{}
		for name := range hard {
			used[name] = "0"
		}
		return s.mergePatch(ctx, path+"/status", map[string]any{"status": map[string]any{"hard": hard, "used": used}})
	case "CustomResourceDefinition":
		if bytes.Contains(o.body, []byte(`"strategy":"Webhook"`)) {
			return s.mergePatch(ctx, path, map[string]any{"spec": map[string]any{"conversion": map[string]any{"strategy": "None", "webhook": nil}}})
		}
	}
	return nil
}

// mergePatch changes an object of the real server.
func (s *realServer) mergePatch(ctx context.Context, path string, patch map[string]any) error {
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	code, _, answer, err := s.send(ctx, http.MethodPatch, path, "application/merge-patch+json", body)
	if err == nil && code != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", path, code, answer)
	}
	return err
}

// path returns the path of an object, of a kind that the server has.
func (s *realServer) path(o *object) string {
	r := s.resources[o.apiVersion][o.kind]
	path := route.VersionPath(o.apiVersion)
	if r.Namespaced {
		path += "/namespaces/" + cmp.Or(o.namespace, "default")
	}
	return path + "/" + r.Name + "/" + o.name
}

// warningsOf returns the texts of the headers.
func warningsOf(h http.Header) (out []string) {
	for _, value := range h.Values("Warning") {
		out = append(out, header.Warning(value))
	}
	return out
}

func (s *realServer) send(ctx context.Context, method, path, contentType string, body []byte) (int, http.Header, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return 0, nil, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, text, err
}
