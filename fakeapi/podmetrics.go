package fakeapi

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
)

// SetUsage sets how much of a resource each container of the Pods uses: of "cpu", such as
// "250m", or of "memory". The horizontal-pod-autoscaler-controller reads it as from
// metrics-server, of Pods that run. It is not served as metrics.k8s.io.
//
//	srv.Pods("app=web").SetUsage("cpu", "900m")
//
// Errors are ErrInvalidOption, for a selector or a quantity that does not parse.
func (p PodSelection) SetUsage(resource, quantity string) error {
	return p.measure(lifecycle.Measurement{Container: p.container, Name: resource, Value: quantity})
}

// SetMetric sets the value of a custom metric of each Pod, which a HorizontalPodAutoscaler
// has as a metric of type Pods. It is not served as custom.metrics.k8s.io. Errors are those
// of SetUsage.
func (p PodSelection) SetMetric(name, quantity string) error {
	return p.measure(lifecycle.Measurement{Name: name, Custom: true, Value: quantity})
}

func (p PodSelection) measure(m lifecycle.Measurement) error {
	of, err := p.containers()
	if err != nil {
		return err
	}
	m.Labels, m.Namespace = of.Labels, of.Namespace
	if err := p.server.api.Controllers().Lifecycle().Measure(m); err != nil {
		return fmt.Errorf("fakeapi: %w", optionError(err))
	}
	return nil
}

// SetMetric sets the value of a metric that a HorizontalPodAutoscaler has as one of type
// External or Object: of the name, in every namespace, with any selector, of any object. An
// error is an ErrInvalidOption, for a quantity that does not parse.
func (s *Server) SetMetric(name, quantity string) error {
	if err := s.api.Controllers().Lifecycle().SetMetric(name, quantity); err != nil {
		return fmt.Errorf("fakeapi: %w", optionError(err))
	}
	return nil
}
