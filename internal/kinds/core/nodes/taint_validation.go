package nodes

import (
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

var taintEffects = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}

// CheckTolerations validates the tolerations of a Pod in the field name.
func CheckTolerations(p validation.View, name string) {
	for _, t := range p.Each(name) {
		checkToleration(t, true)
	}
}

// CheckClassTolerations validates the tolerations of a RuntimeClass in the field name. They
// compare no numbers.
func CheckClassTolerations(p validation.View, name string) {
	for _, t := range p.Each(name) {
		checkToleration(t, false)
	}
}

// comparisonGate is the feature gate of tolerations that compare numbers.
const comparisonGate = "TaintTolerationComparisonOperators"

func checkToleration(p validation.View, mayCompare bool) {
	key, operator, value, effect := p.String("key"), p.String("operator"), p.String("value"), p.String("effect")
	p.FormatIfSet("key", validation.QualifiedName)
	if key == "" && operator != "Exists" {
		p.InvalidNamed("operator", `operator must be Exists when `+"`key`"+` is empty, which means "match all values and all keys"`)
	}
	if effect != "NoExecute" && p.Has("tolerationSeconds") {
		p.InvalidNamed("effect", "effect must be 'NoExecute' when `tolerationSeconds` is set")
	}
	switch operator {
	case "Equal", "":
		if messages := validation.LabelValue(value); len(messages) > 0 {
			p.Add(validation.Invalid(p.At("operator"), value, strings.Join(messages, ";")))
		}
	case "Exists":
		if value != "" {
			p.Add(validation.Invalid(p.At("operator"), value, "value must be empty when `operator` is 'Exists'"))
		}
	case "Lt", "Gt":
		at, bad := p.At("operator"), validation.NamedString(operator)
		refused := validation.NotSupported(at, bad, []string{"Equal", "Exists", "Lt", "Gt"}).Before(behavior.TolerationComparisons, validation.Instead(validation.NotSupported(at, bad, []string{"Equal", "Exists"})))
		if !mayCompare {
			p.Add(refused)
			break
		}
		p.Add(refused.WithoutGate(comparisonGate))
		p.AddList(validation.Each(p.At("value"), value, validation.DecimalInteger(value)).WithGate(comparisonGate))
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			p.Add(validation.Invalid(p.At("value"), value, err.Error()).WithGate(comparisonGate, nil))
		}
	default:
		p.OneOf("operator", "Equal", "Exists")
	}
	if effect != "" {
		p.OneOf("effect", taintEffects...)
	}
}
