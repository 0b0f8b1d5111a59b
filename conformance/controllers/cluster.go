package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/object"
)

// A cluster is an API server and its controllers.
type cluster struct {
	url, token string
	// prefix is that of the names of the namespaces of stories.
	prefix string
	// quiet is how long nothing must change before the cluster counts as settled.
	quiet time.Duration
	// transport replaces the default one.
	transport http.RoundTripper
}

var insecure = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 64}

// do sends a request and returns the status code and the decoded body.
func (c *cluster) do(ctx context.Context, method, path, contentType string, body any) (int, map[string]any, error) {
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, in)
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		if contentType == "" {
			contentType = "application/json"
		}
		req.Header.Set("Content-Type", contentType)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	req.Header.Set("User-Agent", "stories")
	var transport http.RoundTripper = insecure
	if c.transport != nil {
		transport = c.transport
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, err
	}
	var out map[string]any
	if len(data) > 0 && json.Unmarshal(data, &out) != nil {
		return resp.StatusCode, nil, fmt.Errorf("%s %s: %d %.200s", method, path, resp.StatusCode, data)
	}
	return resp.StatusCode, out, nil
}

// list returns the items of a collection.
func (c *cluster) list(ctx context.Context, path string) ([]map[string]any, error) {
	code, out, err := c.do(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return nil, err
	}
	if code != http.StatusOK {
		return nil, fmt.Errorf("list %s: %d %v", path, code, out["message"])
	}
	items, _ := out["items"].([]any)
	list := make([]map[string]any, 0, len(items))
	for _, item := range items {
		list = append(list, item.(map[string]any))
	}
	return list, nil
}

// collections are the collections of a namespace that are compared.
var collections = []string{
	"/api/v1/namespaces/NS/configmaps",
	"/api/v1/namespaces/NS/secrets",
	"/api/v1/namespaces/NS/pods",
	"/api/v1/namespaces/NS/serviceaccounts",
	"/api/v1/namespaces/NS/persistentvolumeclaims",
	"/api/v1/namespaces/NS/replicationcontrollers",
	"/api/v1/namespaces/NS/resourcequotas",
	"/api/v1/namespaces/NS/services",
	"/api/v1/namespaces/NS/endpoints",
	"/api/v1/namespaces/NS/events",
	"/apis/apps/v1/namespaces/NS/deployments",
	"/apis/apps/v1/namespaces/NS/replicasets",
	"/apis/apps/v1/namespaces/NS/statefulsets",
	"/apis/apps/v1/namespaces/NS/daemonsets",
	"/apis/apps/v1/namespaces/NS/controllerrevisions",
	"/apis/batch/v1/namespaces/NS/jobs",
	"/apis/batch/v1/namespaces/NS/cronjobs",
	"/apis/autoscaling/v2/namespaces/NS/horizontalpodautoscalers",
	"/apis/policy/v1/namespaces/NS/poddisruptionbudgets",
	"/apis/discovery.k8s.io/v1/namespaces/NS/endpointslices",
}

// objects returns the objects of a namespace, the Namespace itself, and the objects of
// the cluster that have its name in theirs.
func (c *cluster) objects(ctx context.Context, ns string) ([]map[string]any, error) {
	var out []map[string]any
	code, own, err := c.do(ctx, http.MethodGet, "/api/v1/namespaces/"+ns, "", nil)
	if err != nil {
		return nil, err
	}
	if code == http.StatusOK {
		out = append(out, own)
	}
	for _, path := range collections {
		items, err := c.list(ctx, strings.Replace(path, "NS", ns, 1))
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			item["kind"] = path[strings.LastIndexByte(path, '/')+1:]
		}
		out = append(out, items...)
	}
	for _, path := range []string{"/apis/rbac.authorization.k8s.io/v1/clusterroles", "/api/v1/persistentvolumes", "/apis/storage.k8s.io/v1/storageclasses", "/api/v1/nodes"} {
		items, err := c.list(ctx, path)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if strings.HasPrefix(object.String(item, "metadata", "name"), ns+"-") {
				item["kind"] = path[strings.LastIndexByte(path, '/')+1:]
				out = append(out, item)
			}
		}
	}
	return out, nil
}

const (
	// retryPeriod is longer than the namespace-controller waits before it looks at a
	// namespace whose content remains.
	retryPeriod = 10 * time.Second

	// bindPeriod is longer than the persistentvolume-binder-controller waits before it looks
	// at a claim again. Neither a new volume nor the end of its class makes it look.
	bindPeriod = 17 * time.Second
)

// quietFor returns how long objects must not change before they count as settled.
func (c *cluster) quietFor(objects []map[string]any) time.Duration {
	for _, o := range objects {
		phase := object.String(o, "status", "phase")
		switch object.String(o, "kind") {
		case "Namespace":
			if phase == "Terminating" {
				return retryPeriod
			}
		case "persistentvolumeclaims":
			ns := object.String(o, "metadata", "namespace")
			if phase == "Pending" && strings.HasPrefix(object.String(o, "spec", "storageClassName"), ns+"-") {
				return bindPeriod
			}
		}
	}
	return c.quiet
}

// settle waits until the objects of a namespace have not changed for the quiet time,
// and returns them.
func (c *cluster) settle(ctx context.Context, ns string) (state, error) {
	var last string
	var since time.Time
	deadline := time.Now().Add(2 * time.Minute)
	for {
		objects, err := c.objects(ctx, ns)
		if err != nil {
			return nil, err
		}
		b, err := json.Marshal(slices.DeleteFunc(slices.Clone(objects), comesAgain))
		if err != nil {
			return nil, err
		}
		if now := time.Now(); string(b) != last {
			last, since = string(b), now
		} else if now.Sub(since) >= c.quietFor(objects) {
			return normalize(objects, ns), nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%s: not settled after two minutes", c.url)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(c.quiet / 6):
		}
	}
}
