package audit

import "github.com/kubefake/kubefake/internal/metrics"

// errorTotal has the events that are lost, by plugin.
var errorTotal = &metrics.Vec{
	Name: "apiserver_audit_error_total", Type: metrics.Counter, Stability: metrics.Alpha,
	Help:   "Counter of audit events that failed to be audited properly. Plugin identifies the plugin affected by the error.",
	Labels: []string{"plugin"},
}

// levelTotal has the requests, by the level that the policy selects.
var levelTotal = &metrics.Vec{
	Name: "apiserver_audit_level_total", Type: metrics.Counter, Stability: metrics.Alpha,
	Help:   "Counter of policy levels for audit events (1 per request).",
	Labels: []string{"level"},
}

// Metrics returns the metrics of the log, which may be nil.
func (l *Log) Metrics() []metrics.Family {
	if l == nil {
		l = &Log{backends: &Backends{}}
	}
	return []metrics.Family{
		counter("apiserver_audit_event_total", "Counter of audit events generated and sent to the audit backend.", l.events.Load()),
		counter("apiserver_audit_requests_rejected_total", "Counter of apiserver requests rejected due to an error in audit logging backend.", l.rejected.Load()),
		l.levels.Family(levelTotal),
		l.backends.lost.Family(errorTotal),
	}
}

func counter(name, help string, n int64) metrics.Family {
	return metrics.Family{Name: name, Type: metrics.Counter, Stability: metrics.Alpha, Help: help, Samples: []metrics.Sample{{Value: float64(n)}}}
}
