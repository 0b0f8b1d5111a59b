package aggregator

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/discovery"
)

// maxDocument is the maximum length of a document of an aggregated API server.
const maxDocument = 32 << 20

// Discovery is what discovery documents need of the APIServices. It is immutable: a change makes
// another one.
type Discovery struct{ APIServices []discovery.APIService }

// Discovery returns what the discovery documents need of the APIServices, nil if none is
// remote.
func (a *Aggregator) Discovery() *Discovery { return a.discovery.Load() }

// publishLocked brings Discovery in line with the APIServices and what their servers say.
func (a *Aggregator) publishLocked() {
	known := a.known.Load()
	if known == nil {
		a.discovery.Store(nil)
		return
	}
	d := &Discovery{}
	for _, s := range known.all {
		entry := discovery.APIService{GroupVersion: s.GroupVersion, GroupPriority: s.groupPriority, VersionPriority: s.versionPriority}
		if w := known.byVersion[s.GroupVersion]; w != nil {
			entry.Remote = w.discovered
		}
		d.APIServices = append(d.APIServices, entry)
	}
	a.discovery.Store(d)
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
	resp, body, err := a.fetch(ctx, s, "/apis", discovery.Accept, discoveryUser)
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
	if resp, body, err = a.fetch(ctx, s, s.path(), "application/json", legacyDiscoveryUser); err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s", resp.Status)
	}
	return discovery.ParseResourceList(body)
}

// fetch requests a document of a server. It takes up to checkTimeout.
func (a *Aggregator) fetch(ctx context.Context, s *apiService, path, accept string, user *authn.User) (*http.Response, []byte, error) {
	ctx, cancel := a.config.Clock.WithTimeout(ctx, checkTimeout)
	defer cancel()
	resp, err := a.get(ctx, &s.spec, path, user, http.Header{"Accept": {accept}})
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument))
	return resp, body, err
}
