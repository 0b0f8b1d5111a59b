package kinds

import "github.com/kubefake/kubefake/internal/object"

func defaultFlowSchema(obj map[string]any) {
	fillZero(child(obj, "spec"), "matchingPrecedence", int64(1000))
}

func defaultPriorityLevel(obj map[string]any) {
	spec := child(obj, "spec")
	if exempt := object.Map(spec, "exempt"); exempt != nil {
		fill(exempt, "nominalConcurrencyShares", int64(0))
		fill(exempt, "lendablePercent", int64(0))
	}
	if limited := object.Map(spec, "limited"); limited != nil {
		fill(limited, "nominalConcurrencyShares", int64(30))
		fill(limited, "lendablePercent", int64(0))
		if queuing := object.Map(limited, "limitResponse", "queuing"); queuing != nil {
			fillZero(queuing, "handSize", int64(8))
			fillZero(queuing, "queues", int64(64))
			fillZero(queuing, "queueLengthLimit", int64(50))
		}
	}
}
