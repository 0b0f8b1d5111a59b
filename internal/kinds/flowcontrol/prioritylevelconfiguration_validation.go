package flowcontrol

import (
	"fmt"
	"math"

	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

func validatePriorityLevel(obj map[string]any, _ object.View) validation.List {
	name := object.String(obj, "metadata", "name")
	return validation.Collect(obj, nil, func(level validation.View) {
		spec := level.Field("spec")
		checkPriorityLevel(spec, name)
		checkFixedPriorityLevel(spec, name)
		checkFlowConditions(level)
	})
}

func checkPriorityLevel(spec validation.View, name string) {
	typ := spec.String("type")
	if (name == flowExempt) != (typ == "Exempt") {
		spec.Add(validation.Invalid(spec.At("type"), validation.NamedString(typ), "must be 'Exempt' if and only if `name` is 'exempt'").
			Before(behavior.PlainDetails, validation.Detail("type must be 'Exempt' if and only if name is 'exempt'")))
	}
	switch typ {
	case "Exempt":
		if spec.Has("limited") {
			spec.Add(validation.Forbidden(spec.At("limited"), "").Before(behavior.DeclarativeErrors, validation.Detail("must be nil if the type is not Limited")).Declarative())
		}
		checkForbiddenLimited(spec)
		spec.IfPresent("exempt", func(exempt validation.View) {
			checkNotBelowZero(exempt, "nominalConcurrencyShares", "")
			checkPercentage(exempt, "lendablePercent")
		})
	case "Limited":
		if spec.Has("exempt") {
			spec.Add(validation.Forbidden(spec.At("exempt"), "").Before(behavior.DeclarativeErrors, validation.Detail("must be nil if the type is Limited")).Declarative())
		}
		if limited, ok := spec.Lookup("limited"); ok {
			checkLimitedPriorityLevel(limited)
		} else {
			spec.Add(validation.Required(spec.At("limited"), "").Before(behavior.DeclarativeErrors, validation.Detail("must not be empty when type is Limited")).Declarative())
		}
	default:
		checkUnionType(spec, []string{"exempt", "limited"}, "Exempt", "Limited")
		checkForbiddenLimited(spec)
	}
}

// checkForbiddenLimited checks the limitResponse of a level whose type is not Limited, which
// v1.37 begins to do.
func checkForbiddenLimited(spec validation.View) {
	limited, ok := spec.Lookup("limited")
	if !ok {
		return
	}
	response := limited.Field("limitResponse")
	typ := response.String("type")
	switch queues := response.Has("queuing"); {
	case queues && typ != "Queue":
		response.Add(validation.Forbidden(response.At("queuing"), "").Since(behavior.DeclarativeErrors).Declarative())
	case !queues && typ == "Queue":
		response.Add(validation.Required(response.At("queuing"), "").Since(behavior.DeclarativeErrors).Declarative())
	}
	if typ == "" {
		response.Add(validation.Required(response.At("type"), "").Since(behavior.DeclarativeErrors).Declarative())
	}
}

// checkUnionType checks a type that is neither of two. Since v1.37 the members that go with
// one of them are forbidden too.
func checkUnionType(p validation.View, members []string, types ...string) {
	for _, member := range members {
		if p.Has(member) {
			p.Add(validation.Forbidden(p.At(member), "").Since(behavior.DeclarativeErrors).Declarative())
		}
	}
	if p.String("type") != "" {
		p.OneOf("type", types...)
		return
	}
	p.Declarative(func(p validation.View) { p.RequireOneOfSince(behavior.DeclarativeSpecs, "type", types...) })
}

func checkLimitedPriorityLevel(limited validation.View) {
	checkNotBelowZero(limited, "nominalConcurrencyShares", "")
	response := limited.Field("limitResponse")
	queuing, queues := response.Lookup("queuing")
	switch response.String("type") {
	case "Reject":
		if queues {
			response.Add(validation.Forbidden(response.At("queuing"), "").Before(behavior.DeclarativeErrors, validation.Detail("must be nil if limited.limitResponse.type is not Limited")).Declarative())
		}
	case "Queue":
		if queues {
			checkFlowQueues(queuing)
		} else {
			response.Add(validation.Required(response.At("queuing"), "").Before(behavior.DeclarativeErrors, validation.Detail("must not be empty if limited.limitResponse.type is Limited")).Declarative())
		}
	default:
		checkUnionType(response, []string{"queuing"}, "Queue", "Reject")
	}
	checkPercentage(limited, "lendablePercent")
	checkNotBelowZero(limited, "borrowingLimitPercent", "if specified, ")
}

func checkNotBelowZero(p validation.View, name, when string) {
	if p.Int(name) < 0 {
		p.Invalid(name, when+"must be a non-negative integer")
	}
}

func checkPercentage(p validation.View, name string) {
	if n := p.Int(name); n < 0 || n > 100 {
		p.Invalid(name, "must be between 0 and 100, inclusive")
	}
}

// checkFlowQueues checks the configuration of the queues. Shuffle sharding needs
// queues and hands with at most maxEntropy bits.
func checkFlowQueues(queuing validation.View) {
	const (
		maxQueues  = 10 * 1000 * 1000
		maxEntropy = 60 // bits
	)
	if queuing.Int("queueLengthLimit") <= 0 {
		queuing.Invalid("queueLengthLimit", "must be positive")
	}
	queues, hand := queuing.Int("queues"), queuing.Int("handSize")
	switch {
	case queues <= 0:
		queuing.Invalid("queues", "must be positive")
	case queues > maxQueues:
		queuing.Invalid("queues", fmt.Sprintf("must not be greater than %d", maxQueues))
	}
	switch {
	case hand <= 0:
		queuing.Invalid("handSize", "must be positive")
	case hand > queues:
		queuing.Invalid("handSize", fmt.Sprintf("should not be greater than queues (%d)", queues))
	case handEntropy(queues, hand) > maxEntropy:
		queuing.Invalid("handSize", fmt.Sprintf("required entropy bits of deckSize %d and handSize %d should not be greater than %d", queues, hand, maxEntropy))
	}
}

// handEntropy returns the number of bits that shuffle sharding needs to choose hand
// queues from deck queues.
func handEntropy(deck, hand int64) int {
	return int(math.Ceil(math.Log2(float64(deck)) * float64(hand)))
}

// checkFixedPriorityLevel checks that the spec of a mandatory priority level has its
// fixed value. The concurrency fields of the level "exempt" can change.
func checkFixedPriorityLevel(spec validation.View, name string) {
	fixed := release.FlowSpec("prioritylevelconfigurations", name)
	have, except := spec.Obj, ""
	switch name {
	case flowExempt:
		have = map[string]any{"exempt": fixed["exempt"]}
		kind.CopyMissing(have, spec.Object(), "type", "limited")
		except = " except the 'spec.exempt' field"
	case flowCatchAll:
	default:
		return
	}
	if !validation.Equal(have, fixed) {
		spec.Add(validation.Invalid(spec.Path, validation.AsGoType("flowcontrol.PriorityLevelConfigurationSpec", spec.Obj), fmt.Sprintf("spec of '%s'%s must equal the fixed value", name, except)))
	}
}
