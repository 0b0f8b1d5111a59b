package kinds

import (
	"maps"

	"github.com/kubefake/kubefake/internal/kinds/admissionregistration"
	"github.com/kubefake/kubefake/internal/kinds/apiextensions"
	"github.com/kubefake/kubefake/internal/kinds/apiregistration"
	"github.com/kubefake/kubefake/internal/kinds/apiserverinternal"
	"github.com/kubefake/kubefake/internal/kinds/apps"
	"github.com/kubefake/kubefake/internal/kinds/autoscaling"
	"github.com/kubefake/kubefake/internal/kinds/batch"
	"github.com/kubefake/kubefake/internal/kinds/certificates"
	"github.com/kubefake/kubefake/internal/kinds/coordination"
	"github.com/kubefake/kubefake/internal/kinds/core"
	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/kinds/core/services"
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/kinds/discovery"
	"github.com/kubefake/kubefake/internal/kinds/events"
	"github.com/kubefake/kubefake/internal/kinds/flowcontrol"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/kinds/lifecycle"
	"github.com/kubefake/kubefake/internal/kinds/networking"
	"github.com/kubefake/kubefake/internal/kinds/node"
	"github.com/kubefake/kubefake/internal/kinds/policy"
	"github.com/kubefake/kubefake/internal/kinds/rbac"
	"github.com/kubefake/kubefake/internal/kinds/resourceapi"
	"github.com/kubefake/kubefake/internal/kinds/scheduling"
	"github.com/kubefake/kubefake/internal/kinds/storage"
	"github.com/kubefake/kubefake/internal/kinds/storagemigration"
)

// strategies maps the built-in resources, such as "deployments.apps", to their
// strategies. A key with a version, such as "podgroups.scheduling.k8s.io/v1alpha2", is for
// objects that are stored in a version of another shape.
var strategies = allStrategies()

func allStrategies() map[string]kind.Strategy {
	all := map[string]kind.Strategy{}
	for _, group := range []map[string]kind.Strategy{
		core.Strategies(),
		services.Strategies(),
		events.Strategies(),
		nodes.Strategies(),
		volumes.Strategies(),
		pods.Strategies(),
		admissionregistration.Strategies(),
		apiextensions.Strategies(),
		apiregistration.Strategies(),
		apps.Strategies(),
		autoscaling.Strategies(),
		batch.Strategies(),
		certificates.Strategies(),
		coordination.Strategies(),
		discovery.Strategies(),
		flowcontrol.Strategies(),
		apiserverinternal.Strategies(),
		lifecycle.Strategies(),
		networking.Strategies(),
		node.Strategies(),
		policy.Strategies(),
		rbac.Strategies(),
		resourceapi.Strategies(),
		scheduling.Strategies(),
		storage.Strategies(),
		storagemigration.Strategies(),
	} {
		maps.Copy(all, group)
	}
	return all
}
