package aggregator

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/discovery"
	"github.com/kubefake/kubefake/internal/openapi"
)

// maxDocument is the maximum length of a document of an aggregated API server.
const maxDocument = 32 << 20

// Documents are what discovery and OpenAPI documents need of the APIServices. They are immutable:
// a change makes other ones.
type Documents struct {
	APIServices []discovery.APIService
	// OpenAPI are the documents of the servers, those with the highest priority first.
	OpenAPI []*openapi.Remote
}

// Documents returns what the documents need of the APIServices, nil if none is remote.
func (a *Aggregator) Documents() *Documents { return a.documents.Load() }

// publishLocked updates Documents from the APIServices and what their servers say.
func (a *Aggregator) publishLocked() {
	known := a.known.Load()
	if known == nil {
		a.documents.Store(nil)
		return
	}
	d := &Documents{}
	for _, s := range known.all {
		entry := discovery.APIService{GroupVersion: s.GroupVersion, GroupPriority: s.groupPriority, VersionPriority: s.versionPriority}
		if w := known.byVersion[s.GroupVersion]; w != nil {
			entry.Remote = w.discovered
		}
		d.APIServices = append(d.APIServices, entry)
	}
	for _, w := range known.byPriority() {
		if w.openAPI != nil {
			d.OpenAPI = append(d.OpenAPI, w.openAPI)
		}
	}
	a.documents.Store(d)
}

// The user of requests for discovery documents.
var (
	discoveryUser       = &authn.User{Name: "system:kube-aggregator", Groups: []string{authn.MastersGroup}}
	legacyDiscoveryUser = &authn.User{Name: "system:kube-aggregator"}
)

// discover requests the discovery documents of the server. If it fails, the group version is
// stale and without resources.
func (w *worker) discover(ctx context.Context) error {
	found, err := w.aggregator.discover(ctx, w.current())
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		found = &discovery.Remote{}
	}
	a := w.aggregator
	a.mu.Lock()
	defer a.mu.Unlock()
	if !reflect.DeepEqual(found, w.discovered) {
		w.discovered = found
		a.publishLocked()
	}
	return err
}

// discover returns what a server says of the group version of an APIService: in the aggregated
// document or, if it has none, in the one of the group version.
func (a *Aggregator) discover(ctx context.Context, s *apiService) (*discovery.Remote, error) {
	resp, body, err := a.fetch(ctx, s, "/apis", discoveryUser, accept(discovery.Accept))
	if err != nil {
		return nil, err
	}
	switch {
	case resp.StatusCode == http.StatusServiceUnavailable:
		return nil, fmt.Errorf("the server answers %s", resp.Status)
	case resp.StatusCode == http.StatusOK && discovery.IsAggregated(resp.Header.Get("Content-Type")):
		versions, err := discovery.ParseAggregated(body)
		if err != nil {
			return nil, err
		}
		if found := versions[s.GroupVersion]; found != nil {
			return found, nil
		}
		return discovery.Current(), nil
	}
	if resp, body, err = a.fetch(ctx, s, s.path(), legacyDiscoveryUser, accept("application/json")); err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s", resp.Status)
	}
	return discovery.ParseResourceList(body)
}

// accept returns the header of a request for a media type.
func accept(mediaType string) http.Header { return http.Header{"Accept": {mediaType}} }

// fetch requests a document of a server. It takes up to checkTimeout.
func (a *Aggregator) fetch(ctx context.Context, s *apiService, path string, user *authn.User, header http.Header) (*http.Response, []byte, error) {
	ctx, cancel := a.config.Clock.WithTimeout(ctx, checkTimeout)
	defer cancel()
	resp, err := a.get(ctx, &s.spec, path, user, header)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument))
	return resp, body, err
}
