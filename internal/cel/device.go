package cel

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/once"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"

	"github.com/kubefake/kubefake/internal/cel/library"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

// DeviceSelectors checks CEL selectors of devices. The zero value has all libraries, and
// devices without the fields of feature gates.
type DeviceSelectors struct {
	Version // of the expressions

	ConsumableCapacity bool // DRAConsumableCapacity is on: devices have allowMultipleAllocations
	ListTypeAttributes bool // DRAListTypeAttributes is on: attributes may be lists
}

var deviceEnv = once.PerKey(DeviceSelectors.env)

// env makes the environment of the selectors.
func (s DeviceSelectors) env() *cel.Env {
	perDomain := func(t *types.Type) *types.Type {
		return types.NewMapType(types.StringType, types.NewMapType(types.StringType, t))
	}
	const device = "kubernetes.DRADevice"
	fields := map[string]*types.Type{
		"driver": types.StringType, "attributes": perDomain(types.AnyType), "capacity": perDomain(library.QuantityType),
	}
	options := []cel.EnvOption{ext.Bindings(ext.BindingsVersion(0))}
	if s.ConsumableCapacity {
		fields["allowMultipleAllocations"] = types.BoolType
	}
	if s.ListTypeAttributes {
		fields["attributes"] = perDomain(types.DynType)
		options = append(options, cel.Function(includes, cel.MemberOverload("dra_includes_dyn_dyn", []*types.Type{types.DynType, types.DynType}, types.BoolType)))
	}
	if !s.has(behavior.CELSemver) { // they had its first version before
		options = append(options, library.Semver(false)...)
	}
	options = append(options, declaration{map[string]map[string]*types.Type{device: fields}}.envOption, cel.Variable("device", types.NewObjectType(device)))
	env, err := base(s.Version).Extend(options...)
	if err != nil {
		panic("cel: " + err.Error()) // unreachable: tests build it
	}
	return env
}

// includes is the name of the function that reports whether an attribute is or has a value.
const includes = "includes"

// maxAttributeValues is the maximal number of values of an attribute that is a list.
const maxAttributeValues = 48

// deviceCosts is the cost estimator of selectors.
type deviceCosts struct{ costs }

func (c deviceCosts) EstimateCallCost(function, overload string, target *checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	if function == includes {
		return &checker.CallEstimate{CostEstimate: checker.CostEstimate{Max: maxAttributeValues}}
	}
	return c.costs.EstimateCallCost(function, overload, target, args)
}

// deviceSizes has the maximal sizes of the fields of a device. Attributes and
// capacities are maps by domain and name.
var deviceSizes = map[string]uint64{
	"": 0, "driver": 63, "allowMultipleAllocations": 1,
	"attributes": 32, "attributes.@keys": 63,
	"attributes.@values": 32, "attributes.@values.@keys": 32, "attributes.@values.@values": 64,
	"capacity": 32, "capacity.@keys": 63,
	"capacity.@values": 32, "capacity.@values.@keys": 32, "capacity.@values.@values": 0,
}

// deviceSize returns the maximal size of the value at a path within the variable device. An
// attribute may also be selected as a field.
func deviceSize(in string, path []string) (size uint64, known bool) {
	if in != "device" {
		return 0, false
	}
	if len(path) == 3 && path[0] == "attributes" && path[2] != "@keys" {
		path = []string{path[0], path[1], "@values"}
	}
	size, known = deviceSizes[strings.Join(path, ".")]
	return size, known
}

// maxDeviceSelectorCost is the maximal estimated cost of a selector.
const maxDeviceSelectorCost = 1_000_000

// Check validates a CEL selector of a device request. It returns nil if the selector is
// valid.
func (s DeviceSelectors) Check(text string, path *validation.Path) *validation.Error {
	env := deviceEnv(s)
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return validation.Invalid(path, text, "compilation failed: "+issues.String())
	}
	switch t := ast.OutputType(); {
	case t == types.BoolType, t == types.AnyType, t == types.DynType && s.ListTypeAttributes:
	default:
		return validation.Invalid(path, text, fmt.Sprintf("must evaluate to %v or the unknown type, not %v", types.BoolType, t))
	}
	if _, err := env.Program(ast); err != nil {
		return Invalid(path, text, instantiationError(err))
	}
	estimate, err := estimateCost(env, ast, s.Version, deviceCosts{costs{sizes: deviceSize, version: s.Version}})
	switch {
	case err != nil:
		return validation.Internal(path, fmt.Errorf("cost estimation failed: %w", err))
	case estimate.Max > maxDeviceSelectorCost:
		return validation.Forbidden(path, "too complex, exceeds cost limit")
	}
	return nil
}
