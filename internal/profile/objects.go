package profile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/scrub"
)

// Passing are the resources whose objects the parts of a cluster write by themselves, again and
// again, and that need no upgrade.
var Passing = []string{
	"csistoragecapacities.storage.k8s.io", "endpoints", "endpointslices.discovery.k8s.io",
	"events", "events.events.k8s.io", "leases.coordination.k8s.io",
}

// pageSize is how many objects one request lists.
const pageSize = 500

// Objects say which objects of a cluster are read, and how.
type Objects struct {
	Exclude  []string // resources that are left out, such as "events" and "leases.coordination.k8s.io"
	Scrubber *scrub.Scrubber

	// Write gets each object of a resource, such as "deployments.apps". It may keep the object.
	Write func(resource string, obj map[string]any) error
}

// A listed resource is one that a cluster serves in a version.
type listed struct {
	apiVersion, path string
	name, kind       string // "deployments.apps", "Deployment"
}

// ReadObjects reads the objects of a cluster in pages, each in the version that the cluster prefers,
// without secrets, and returns how many there are. It keeps one object in memory. Resources of other
// servers, such as metrics.k8s.io, are left out, and with a warning those that the user may not
// list. If the cluster cannot list a resource, as when a webhook does not convert its objects, the
// others are read before ReadObjects fails.
func (c *Recorder) ReadObjects(ctx context.Context, o Objects) (n int, err error) {
	resources, err := c.resources(ctx)
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, r := range resources {
		if slices.Contains(o.Exclude, r.name) {
			continue
		}
		err := c.list(ctx, r, func(obj map[string]any) error {
			n++
			clean, _ := o.Scrubber.Body(r.name, obj).(map[string]any)
			return o.Write(r.name, clean)
		})
		var refused *statusError
		switch {
		case errors.As(err, &refused) && refused.code < 500:
			c.Warn(missing(r.name, err))
		case refused != nil:
			failed = append(failed, err)
		case err != nil:
			return n, err
		}
	}
	return n, errors.Join(failed...)
}

// resources returns what can be listed and written: of each resource its preferred version.
func (c *Recorder) resources(ctx context.Context) (out []listed, err error) {
	var groups struct {
		Groups []struct {
			Name             string
			PreferredVersion struct{ Version string }
			Versions         []struct{ Version string }
		}
	}
	if err := c.read(ctx, "/apis", "application/json", &groups); err != nil {
		return nil, err
	}
	if out, err = c.version(ctx, "", "v1", out); err != nil {
		return nil, err
	}
	foreign, err := c.aggregated(ctx)
	if err != nil {
		c.Warn(missing("APIServices, so APIs of other servers are read too", err))
	}
	for _, g := range groups.Groups {
		versions := []string{g.PreferredVersion.Version}
		for _, v := range g.Versions {
			if v.Version != versions[0] {
				versions = append(versions, v.Version)
			}
		}
		for _, v := range versions {
			if foreign[g.Name+"/"+v] {
				continue
			}
			if out, err = c.version(ctx, g.Name, v, out); err != nil {
				c.Warn(missing(g.Name+"/"+v, err))
			}
		}
	}
	return out, nil
}

// aggregated returns the API versions that other servers serve for the cluster.
func (c *Recorder) aggregated(ctx context.Context) (map[string]bool, error) {
	var list struct {
		Items []struct {
			Spec struct {
				Group, Version string
				Service        *struct{}
			}
		}
	}
	if err := c.read(ctx, "/apis/apiregistration.k8s.io/v1/apiservices", "application/json", &list); err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, s := range list.Items {
		out[s.Spec.Group+"/"+s.Spec.Version] = s.Spec.Service != nil
	}
	return out, nil
}

// version appends the resources of a version that are not there yet.
func (c *Recorder) version(ctx context.Context, group, version string, out []listed) ([]listed, error) {
	var list struct {
		Resources []struct {
			Name, Kind string
			Verbs      []string
		}
	}
	apiVersion, path, suffix := version, "/api/"+version, ""
	if group != "" {
		apiVersion, path, suffix = group+"/"+version, "/apis/"+group+"/"+version, "."+group
	}
	if err := c.read(ctx, path, "application/json", &list); err != nil {
		return out, err
	}
	for _, r := range list.Resources {
		name := r.Name + suffix
		has := slices.ContainsFunc(out, func(l listed) bool { return l.name == name })
		if !has && !strings.Contains(r.Name, "/") && slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "update") {
			out = append(out, listed{apiVersion, path + "/" + r.Name, name, r.Kind})
		}
	}
	return out, nil
}

// list calls each for the objects of a resource. If the pages expire, it goes on with the newest
// objects.
func (c *Recorder) list(ctx context.Context, r listed, each func(map[string]any) error) error {
	for token := ""; ; {
		query := url.Values{"limit": {strconv.Itoa(pageSize)}}
		if token != "" {
			query.Set("continue", token)
		}
		next, err := c.page(ctx, r, r.path+"?"+query.Encode(), each)
		var expired *statusError
		if errors.As(err, &expired) && expired.code == http.StatusGone && expired.next != "" && token != "" {
			next, err = expired.next, nil
		}
		if err != nil || next == "" {
			return err
		}
		token = next
	}
}

// page calls each for the objects of one page, and returns the token of the next one.
func (c *Recorder) page(ctx context.Context, r listed, path string, each func(map[string]any) error) (next string, err error) {
	body, err := c.open(ctx, path, "application/json")
	if err != nil {
		return "", err
	}
	defer body.Close()
	d := json.NewDecoder(body)
	d.UseNumber()
	token := func() (t json.Token) {
		if err == nil {
			t, err = d.Token()
		}
		return t
	}
	token() // {
	for err == nil && d.More() {
		switch name := token(); name {
		case "metadata":
			var meta struct{ Continue string }
			err = cmp.Or(err, d.Decode(&meta))
			next = meta.Continue
		case "items":
			if token() != json.Delim('[') { // null
				continue
			}
			for err == nil && d.More() {
				var obj map[string]any
				if err = d.Decode(&obj); err != nil {
					break
				}
				obj["apiVersion"], obj["kind"] = r.apiVersion, r.kind
				if err := each(obj); err != nil {
					return "", err
				}
			}
			token() // ]
		default:
			var other json.RawMessage
			err = cmp.Or(err, d.Decode(&other))
		}
	}
	if err != nil {
		return "", fmt.Errorf("GET %s: %w", path, err)
	}
	return next, nil
}

// attempts is how often a request is sent that the cluster is too busy to answer.
const attempts = 5

// open returns the body of the answer to a GET. A server that is busy is asked again.
func (c *Recorder) open(ctx context.Context, path, accept string) (io.ReadCloser, error) {
	for n := 1; ; n++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+path, nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Accept", accept)
		resp, err := c.Client.Do(req)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode == http.StatusOK {
			return resp.Body, nil
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			return nil, err
		}
		busy := resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable
		if !busy || n == attempts {
			return nil, newStatusError(path, resp.StatusCode, body)
		}
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		select {
		case <-time.After(time.Duration(max(1, min(seconds, 60))) * time.Second):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// newStatusError returns the error of an answer.
func newStatusError(path string, code int, body []byte) *statusError {
	e := &statusError{path: path, code: code, message: string(bytes.TrimSpace(body))}
	var status struct {
		Message  string
		Metadata struct{ Continue string }
	}
	if json.Unmarshal(body, &status) == nil && status.Message != "" {
		e.message, e.next = status.Message, status.Metadata.Continue
	}
	return e
}
