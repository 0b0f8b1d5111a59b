package reflector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/status"
)

// A Client sends GET requests to a server.
type Client struct {
	URL  string // without a slash at the end
	HTTP *http.Client
	// UserAgent is that of the requests.
	UserAgent string
}

// An Error is an answer other than 200.
type Error struct {
	Code    int
	Message string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Message) }

func isExpired(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == http.StatusGone
}

// maxRetries is how often a request is repeated after 429, which is the limit of client-go.
const maxRetries = 10

// open sends a GET request and returns the body of the answer. It repeats a request after 429 with
// Retry-After, which kube-apiserver answers while it initializes the storage of a custom resource.
func (c *Client) open(ctx context.Context, path string) (io.ReadCloser, error) {
	for retries := 0; ; retries++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+path, nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Accept", "application/json")
		req.Header.Set("User-Agent", c.UserAgent)
		resp, err := c.HTTP.Do(req)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode == http.StatusOK {
			return resp.Body, nil
		}
		body, _ := io.ReadAll(resp.Body) // as much as arrived
		resp.Body.Close()
		seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
		if resp.StatusCode != http.StatusTooManyRequests || err != nil || retries == maxRetries {
			return nil, &Error{resp.StatusCode, status.MessageOf(body)}
		}
		select {
		case <-time.After(time.Duration(seconds) * time.Second):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Get reads and decodes a JSON document. Numbers in v are json.Number where v leaves it open. The
// error of another answer than 200 is an [Error].
func (c *Client) Get(ctx context.Context, path string, v any) error {
	body, err := c.open(ctx, path)
	if err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	defer body.Close()
	d := json.NewDecoder(body)
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}

// A Type is an entry of the server's discovery.
type Type struct {
	resource.GroupVersion
	Name, SingularName string
	Kind               string
	ShortNames, Verbs  []string
	Namespaced         bool
}

// String returns the resource with its group.
func (t *Type) String() string {
	return status.GroupResource{Group: t.Group, Resource: t.Name}.String()
}

// Path returns the path of the resource in a namespace, or in all namespaces if
// namespace is "".
func (t *Type) Path(namespace string) string {
	path := route.VersionPath(t.GroupVersion.String())
	if namespace != "" && t.Namespaced {
		path += "/namespaces/" + namespace
	}
	return path + "/" + t.Name
}

// Types returns the resources that can be listed and watched, each in the version that the server
// prefers. unavailable is about groups whose servers do not answer, as often for metrics.
func (c *Client) Types(ctx context.Context) (served []*Type, unavailable, err error) {
	var groups struct {
		Groups []struct {
			Name             string
			PreferredVersion struct{ Version string }
		}
	}
	if err := c.Get(ctx, "/apis", &groups); err != nil {
		return nil, nil, err
	}
	if served, err = c.typesInGroup(ctx, "", "v1"); err != nil {
		return nil, nil, err
	}
	for _, g := range groups.Groups {
		types, err := c.typesInGroup(ctx, g.Name, g.PreferredVersion.Version)
		unavailable = errors.Join(unavailable, err)
		served = append(served, types...)
	}
	return served, unavailable, nil
}

// typesInGroup returns the resources of a group version that can be listed and
// watched.
func (c *Client) typesInGroup(ctx context.Context, group, version string) ([]*Type, error) {
	var list struct{ Resources []*Type }
	path := (&Type{GroupVersion: resource.GroupVersion{Group: group, Version: version}}).Path("")
	if err := c.Get(ctx, strings.TrimSuffix(path, "/"), &list); err != nil {
		return nil, err
	}
	var out []*Type
	for _, t := range list.Resources {
		if slices.Contains(t.Verbs, "list") && slices.Contains(t.Verbs, "watch") {
			t.Group, t.Version = group, version
			out = append(out, t)
		}
	}
	return out, nil
}
