package aggregator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/cluster"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/webhook"
)

// localCondition is the condition Available of an APIService without a service.
var localCondition = cluster.Availability{Available: true, Reason: "Local", Message: "Local APIServices are always available"}

// passed is the condition Available of a remote APIService whose server answers.
var passed = cluster.Availability{Available: true, Reason: "Passed", Message: "all checks passed"}

// availabilityUser is the user of the requests that check availability.
var availabilityUser = &authn.User{Name: "system:kube-aggregator", Groups: []string{authn.MastersGroup}}

// checkTimeout is the longest time of the request that checks availability, and of those for
// discovery documents.
const checkTimeout = 5 * time.Second

// checkAvailability sets the condition Available. It fails if the server does not answer.
func (w *worker) checkAvailability(ctx context.Context) error {
	s := w.current()
	condition, failed := w.aggregator.availability(ctx, s)
	if errors.Is(failed, webhook.ErrCABundle) {
		return failed // kube-apiserver writes no condition
	}
	if ctx.Err() != nil || w.current().spec != s.spec {
		return nil // the check is outdated, and another one is due if one is needed
	}
	w.written.Store(&condition)
	if err := w.aggregator.setCondition(ctx, s, condition); err != nil {
		return err
	}
	return failed
}

// setCondition sets the condition Available of an APIService.
func (a *Aggregator) setCondition(ctx context.Context, s *apiService, c cluster.Availability) error {
	return a.config.Cluster.SetAPIServiceAvailability(ctx, s.stored, c)
}

// availability returns the condition Available of a remote APIService. failed is not nil if the
// check is to be repeated soon.
func (a *Aggregator) availability(ctx context.Context, s *apiService) (c cluster.Availability, failed error) {
	if c := a.checkService(&s.spec); c != nil {
		return *c, nil
	}
	if err := a.checkDiscovery(ctx, s); err != nil {
		return cluster.Availability{Reason: "FailedDiscoveryCheck", Message: err.Error()}, err
	}
	return passed, nil
}

// checkService checks the Service of an APIService and its endpoints. It returns nil if they
// are as they should be.
func (a *Aggregator) checkService(s *spec) *cluster.Availability {
	if a.mapped(s) != "" {
		return nil
	}
	no := func(reason, format string, args ...any) *cluster.Availability {
		return &cluster.Availability{Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	service := a.newest("", "services", s.namespace, s.name)
	switch {
	case service == nil:
		return no("ServiceNotFound", "service/%s in %q is not present", s.name, s.namespace)
	case object.String(service, "spec", "type") != "ClusterIP":
		return nil
	}
	name, ok := portName(service, s.port)
	if !ok {
		return no("ServicePortError", "service/%s in %q is not listening on port %d", s.name, s.namespace, s.port)
	}
	slices := a.endpointSlices(s)
	if len(slices) == 0 {
		return no("EndpointsNotFound", "cannot find endpointslices for service/%s in %q", s.name, s.namespace)
	}
	for _, slice := range slices {
		if readyAddress(slice) != "" && portNumber(slice, name) != 0 {
			return nil
		}
	}
	return no("MissingEndpoints", "endpointslices for service/%s in %q have no addresses with port name %q", s.name, s.namespace, name)
}

// checkDiscovery requests the discovery document of the group version, which every aggregated
// API server has.
func (a *Aggregator) checkDiscovery(ctx context.Context, s *apiService) error {
	ctx, cancel := a.config.Clock.WithTimeout(ctx, checkTimeout)
	defer cancel()
	to, err := a.resolve(&s.spec)
	if err != nil {
		return err
	}
	target := "https://" + to.host + s.path()
	resp, err := a.get(ctx, &s.spec, s.path(), availabilityUser, nil)
	if err == nil {
		resp.Body.Close()
		if resp.StatusCode >= http.StatusOK && resp.StatusCode < http.StatusMultipleChoices {
			return nil
		}
		err = fmt.Errorf("bad status from %s: %d", target, resp.StatusCode)
	}
	return fmt.Errorf("failing or missing response from %s: %w", target, err)
}
