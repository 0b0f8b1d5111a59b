package cel

import (
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"

	"github.com/kubefake/kubefake/internal/cel/library"
	"github.com/kubefake/kubefake/internal/validation"
)

// deviceEnv returns the environment of the selectors of devices.
var deviceEnv = sync.OnceValue(func() *cel.Env {
	perDomain := func(t *types.Type) *types.Type {
		return types.NewMapType(types.StringType, types.NewMapType(types.StringType, t))
	}
	const device = "kubernetes.DRADevice"
	env, err := base(0).Extend(
		declaration{map[string]map[string]*types.Type{device: {
			"driver": types.StringType, "allowMultipleAllocations": types.BoolType,
			"attributes": perDomain(types.AnyType), "capacity": perDomain(library.QuantityType),
		}}}.envOption,
		cel.Variable("device", types.NewObjectType(device)),
		ext.Bindings(ext.BindingsVersion(0)),
	)
	if err != nil {
		panic("cel: " + err.Error()) // unreachable: tests build it
	}
	return env
})

// deviceSizes has the maximal sizes of the fields of a device. Attributes and
// capacities are maps by domain and name.
var deviceSizes = map[string]uint64{
	"": 0, "driver": 63, "allowMultipleAllocations": 1,
	"attributes": 32, "attributes.@keys": 63,
	"attributes.@values": 32, "attributes.@values.@keys": 32, "attributes.@values.@values": 64,
	"capacity": 32, "capacity.@keys": 63,
	"capacity.@values": 32, "capacity.@values.@keys": 32, "capacity.@values.@values": 0,
}

// deviceSize returns the maximal size of the value at a path within a device. An
// attribute may also be selected as a field.
func deviceSize(path []string) (size uint64, known bool) {
	if len(path) == 3 && path[0] == "attributes" && path[2] != "@keys" {
		path = []string{path[0], path[1], "@values"}
	}
	size, known = deviceSizes[strings.Join(path, ".")]
	return size, known
}

// maxDeviceSelectorCost is the maximal estimated cost of a selector.
const maxDeviceSelectorCost = 1_000_000

// CheckDeviceSelector validates a CEL selector of a device request. It returns nil
// if the selector is valid.
func CheckDeviceSelector(text string, path *validation.Path) *validation.Error {
	env := deviceEnv()
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return validation.Invalid(path, text, "compilation failed: "+issues.String())
	}
	switch ast.OutputType() {
	case types.BoolType, types.AnyType:
	default:
		return validation.Invalid(path, text, fmt.Sprintf("must evaluate to %v or the unknown type, not %v", types.BoolType, ast.OutputType()))
	}
	if _, err := env.Program(ast); err != nil {
		return validation.Internal(path, fmt.Errorf("program instantiation failed: %w", err))
	}
	estimate, err := env.EstimateCost(ast, costs{sizes: deviceSize})
	switch {
	case err != nil:
		return validation.Internal(path, fmt.Errorf("cost estimation failed: %w", err))
	case estimate.Max > maxDeviceSelectorCost:
		return validation.Forbidden(path, "too complex, exceeds cost limit")
	}
	return nil
}
