package fakeapi

import (
	"context"
	"net/http"

	"github.com/kubefake/kubefake/internal/backdoor"
	"github.com/kubefake/kubefake/internal/control"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func init() {
	backdoor.Of = func(server any) backdoor.Server { return back{server.(*Server)} }
	backdoor.WithCluster = func(name string, options any) any { return withCluster(name, options.([]Option)) }
}

// back is a server as other packages of the module use it.
type back struct{ *Server }

func (b back) Cluster(name string) any {
	if s := b.namedCluster(name); s != nil {
		return s
	}
	return nil
}

func (b back) ClusterNames() []string { return b.clusterNames() }

func (b back) NewFrontEnd(wrap func(cluster string, next http.Handler) http.Handler) (any, error) {
	return b.newFrontEnd(wrap)
}

func (b back) WriteOrders(from int64) map[int64]int64 {
	out := map[int64]int64{}
	for _, e := range b.api.Cluster().Journal().Transactions() {
		if revision := int64(e.What.Revision); revision >= from {
			out[revision] = e.Order
		}
	}
	return out
}

func (b back) RunControllers(ctx context.Context) error { return b.api.Controllers().RunDue(ctx) }

func (b back) Shutdown(ctx context.Context) {
	b.api.EndStreams()
	_ = b.http.Shutdown(ctx) // Close ends the requests that are left
}

func (b back) RemoveObject(object any) error { return b.removeObject(object) }

func (b back) HasManualClock() bool { return b.api.Cluster().Clock().Manual() }

func (b back) StartUsage() { b.api.Cluster().Usage().Start() }

func (b back) Usage() (u any, counting bool) {
	return b.api.Control().Usage()
}

func (b back) Validator(group, version, resource string) func(obj map[string]any) validation.List {
	surface := b.api.Cluster().Surface()
	t := surface.Lookup(group, version, resource)
	if t == nil || t.Virtual() {
		return nil
	}
	return func(obj map[string]any) validation.List {
		t.SetDefaults(obj, object.View{})
		errs, _ := t.ValidateAll(context.Background(), obj, object.View{}, nil).In(surface.Release(), t.Group, t.Kind).Split()
		return errs
	}
}

func (b back) ShowSearches(from any) { b.api.Control().ShowSearches(from.(control.Searches)) }

func (b back) HistoryBytes() int64 { return b.api.Cluster().Store().HistoryBytes() }
