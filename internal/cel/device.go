package cel

import (
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
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

// CheckDeviceSelector compiles an expression that selects devices, or says why
// it is wrong.
//
// Differs from kube-apiserver: the cost of a selector is not estimated.
func CheckDeviceSelector(text string) error {
	ast, issues := deviceEnv().Compile(text)
	if issues.Err() != nil {
		return fmt.Errorf("compilation failed: %s", issues)
	}
	switch ast.OutputType() {
	case types.BoolType, types.AnyType:
		return nil
	}
	return fmt.Errorf("must evaluate to %v or the unknown type, not %v", types.BoolType, ast.OutputType())
}
