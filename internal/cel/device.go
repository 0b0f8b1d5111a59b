package cel

import (
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"

	"github.com/kubefake/kubefake/internal/validation"
)

// deviceEnv is the environment of expressions that select devices.
var deviceEnv = sync.OnceValue(func() *cel.Env {
	perDomain := func(t *types.Type) *types.Type {
		return types.NewMapType(types.StringType, types.NewMapType(types.StringType, t))
	}
	const device = "kubernetes.DRADevice"
	env, err := base().Extend(
		declaration{map[string]map[string]*types.Type{device: {
			"driver": types.StringType, "allowMultipleAllocations": types.BoolType,
			"attributes": perDomain(types.AnyType), "capacity": perDomain(quantityType),
		}}}.known,
		cel.Variable("device", types.NewObjectType(device)),
		ext.Bindings(ext.BindingsVersion(0)),
	)
	if err != nil {
		panic("cel: " + err.Error()) // unreachable: a test makes it
	}
	return env
})

// deviceSizes are how large a device and its parts can be: strings, and maps by
// domain and then by name.
var deviceSizes = map[string]uint64{
	"": 0, "driver": 63, "allowMultipleAllocations": 1,
	"attributes": 32, "attributes.@keys": 63,
	"attributes.@values": 32, "attributes.@values.@keys": 32, "attributes.@values.@values": 64,
	"capacity": 32, "capacity.@keys": 63,
	"capacity.@values": 32, "capacity.@values.@keys": 32, "capacity.@values.@values": 0,
}

// deviceSize is how large a part of a device can be. An attribute may be named as
// a member is.
func deviceSize(path []string) (size uint64, known bool) {
	if len(path) == 3 && path[0] == "attributes" && path[2] != "@keys" {
		path = []string{path[0], path[1], "@values"}
	}
	size, known = deviceSizes[strings.Join(path, ".")]
	return size, known
}

// deviceLimit is the most that a selector may cost by estimate.
const deviceLimit = 1_000_000

// CheckDeviceSelector says what is wrong with an expression that selects devices.
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
	estimate, err := env.EstimateCost(ast, costs{deviceSize})
	switch {
	case err != nil:
		return validation.Internal(path, fmt.Errorf("cost estimation failed: %w", err))
	case estimate.Max > deviceLimit:
		return validation.Forbidden(path, "too complex, exceeds cost limit")
	}
	return nil
}
