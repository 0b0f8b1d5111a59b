// Package events has the strategies of Events, which the core and events.k8s.io groups share.
package events

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"events": eventStrategy,
	}
}
