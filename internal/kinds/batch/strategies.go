// Package batch has the strategies of the batch group: Jobs and CronJobs.
package batch

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"cronjobs.batch": cronJobStrategy,
		"jobs.batch":     jobStrategy,
	}
}
