package cel

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
)

// An AdmissionScope is which variables the expressions of a webhook or a policy
// have, besides object, oldObject, namespaceObject and request.
type AdmissionScope struct {
	Params     bool // params
	Authorizer bool // authorizer and authorizer.requestResource
	Patches    bool // the types of which mutations are made
}

// An Outcome is the type that an expression has to give.
type Outcome struct{ any []*types.Type }

// The outcomes of expressions.
var (
	BoolOutcome         = Outcome{[]*types.Type{types.BoolType}}
	StringOutcome       = Outcome{[]*types.Type{types.StringType}}
	StringOrNullOutcome = Outcome{[]*types.Type{types.StringType, types.NullType}}
	AnyOutcome          = Outcome{}
	ObjectOutcome       = Outcome{[]*types.Type{types.NewObjectType(patchedObject)}}
	PatchOutcome        = Outcome{[]*types.Type{types.NewListType(types.NewObjectType(jsonPatch))}}
)

// accepts reports whether a type is one of those wanted.
func (r Outcome) accepts(t *types.Type) bool {
	return r.any == nil || slices.ContainsFunc(r.any, t.IsExactType)
}

// wanted says that a type is not one of those wanted.
func (r Outcome) wanted(t *types.Type) error {
	if len(r.any) == 1 {
		return fmt.Errorf("must evaluate to %v but got %v", r.any[0], t)
	}
	return fmt.Errorf("must evaluate to one of %v but got %v", r.any, t)
}

// Admission compiles the expressions of one webhook or policy. It is not safe
// for concurrent use.
type Admission struct {
	// variables are the types of a policy's own variables; nil if it has none.
	variables map[string]*types.Type
}

// NewAdmission returns what compiles expressions; composed says that there will
// be variables.
func NewAdmission(composed bool) *Admission {
	a := &Admission{}
	if composed {
		a.variables = map[string]*types.Type{}
	}
	return a
}

// Check compiles an expression that has to give a result, or says why it is
// wrong.
func (a *Admission) Check(text string, scope AdmissionScope, want Outcome) error {
	_, err := a.check(text, scope, want)
	return err
}

// Declare is Check for a variable that the expressions after it can refer to,
// even if it is wrong.
func (a *Admission) Declare(name, text string, scope AdmissionScope) error {
	t, err := a.check(text, scope, AnyOutcome)
	a.variables[name] = variableType(t)
	return err
}

func (a *Admission) check(text string, scope AdmissionScope, want Outcome) (*types.Type, error) {
	env := admissionEnv(scope)
	if a.variables != nil {
		var err error
		if env, err = env.Extend(objectType(variablesType, a.variables), cel.Variable("variables", types.NewObjectType(variablesType))); err != nil {
			return nil, err
		}
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("compilation failed: %s", issues)
	}
	if !want.accepts(ast.OutputType()) {
		return nil, want.wanted(ast.OutputType())
	}
	return ast.OutputType(), nil
}

const variablesType = "kubernetes.variables"

// objectType makes an object type known.
func objectType(name string, members map[string]*types.Type) cel.EnvOption {
	return declaration{map[string]map[string]*types.Type{name: members}}.known
}

// variableType is how a variable of a type is seen: objects are of any type.
func variableType(t *types.Type) *types.Type {
	if t == nil {
		return types.DynType
	}
	switch t.Kind() {
	case types.BoolKind, types.DoubleKind, types.IntKind, types.UintKind, types.StringKind, types.BytesKind, types.DurationKind, types.TimestampKind:
		return t
	case types.ListKind:
		return types.NewListType(variableType(t.Parameters()[0]))
	case types.MapKind:
		return types.NewMapType(variableType(t.Parameters()[0]), variableType(t.Parameters()[1]))
	}
	return types.DynType
}

// admissionEnvs are the environments by their scopes: *cel.Env by
// AdmissionScope.
var admissionEnvs sync.Map

func admissionEnv(scope AdmissionScope) *cel.Env {
	if env, ok := admissionEnvs.Load(scope); ok {
		return env.(*cel.Env)
	}
	options := []cel.EnvOption{
		admissionTypes().known,
		cel.Variable("object", types.DynType),
		cel.Variable("oldObject", types.DynType),
		cel.Variable("namespaceObject", types.NewObjectType("kubernetes.Namespace")),
		cel.Variable("request", types.NewObjectType("kubernetes.AdmissionRequest")),
	}
	if scope.Params {
		options = append(options, cel.Variable("params", types.DynType))
	}
	if scope.Authorizer {
		options = append(options, cel.Variable("authorizer", authorizerType), cel.Variable("authorizer.requestResource", resourceCheckType))
	}
	if scope.Patches {
		options = append(options, patchTypes, cel.Function("jsonpatch.escapeKey",
			cel.Overload("string_jsonpatch_escapeKey_string", []*types.Type{types.StringType}, types.StringType, cel.UnaryBinding(escapeKey))))
	}
	env, err := base().Extend(options...)
	if err != nil {
		panic("cel: " + err.Error()) // unreachable: a test makes every one
	}
	shared, _ := admissionEnvs.LoadOrStore(scope, env)
	return shared.(*cel.Env)
}

// admissionTypes are the types of request and namespaceObject.
var admissionTypes = sync.OnceValue(func() declaration {
	texts := types.NewListType(types.StringType)
	labels := types.NewMapType(types.StringType, types.StringType)
	strings := func(names ...string) map[string]*types.Type {
		members := make(map[string]*types.Type, len(names))
		for _, name := range names {
			members[name] = types.StringType
		}
		return members
	}
	with := func(members, more map[string]*types.Type) map[string]*types.Type {
		maps.Copy(members, more)
		return members
	}
	kind, resource := types.NewObjectType("kubernetes.GroupVersionKind"), types.NewObjectType("kubernetes.GroupVersionResource")
	return declaration{map[string]map[string]*types.Type{
		"kubernetes.GroupVersionKind":     strings("group", "version", "kind"),
		"kubernetes.GroupVersionResource": strings("group", "version", "resource"),
		"kubernetes.UserInfo": with(strings("username", "uid"), map[string]*types.Type{
			"groups": texts, "extra": types.NewMapType(types.StringType, texts),
		}),
		"kubernetes.AdmissionRequest": with(strings("subResource", "requestSubResource", "name", "namespace", "operation"), map[string]*types.Type{
			"kind": kind, "requestKind": kind, "resource": resource, "requestResource": resource,
			"userInfo": types.NewObjectType("kubernetes.UserInfo"), "dryRun": types.BoolType, "options": types.DynType,
		}),
		"kubernetes.Namespace": {
			"metadata": types.NewObjectType("kubernetes.NamespaceMetadata"),
			"spec":     types.NewObjectType("kubernetes.NamespaceSpec"),
			"status":   types.NewObjectType("kubernetes.NamespaceStatus"),
		},
		"kubernetes.NamespaceMetadata": with(strings("name", "generateName", "namespace", "UID", "resourceVersion"), map[string]*types.Type{
			"labels": labels, "annotations": labels, "finalizers": texts,
			"creationTimestamp": types.TimestampType, "deletionTimestamp": types.TimestampType,
			"deletionGracePeriodSeconds": types.IntType, "generation": types.IntType,
		}),
		"kubernetes.NamespaceSpec": {"finalizers": texts},
		"kubernetes.NamespaceStatus": {
			"phase": types.StringType, "conditions": types.NewListType(types.NewObjectType("kubernetes.NamespaceCondition")),
		},
		"kubernetes.NamespaceCondition": with(strings("status", "type", "message", "reason"), map[string]*types.Type{
			"lastTransitionTime": types.TimestampType,
		}),
	}}
})

// The types of which mutations are made: parts of an object, named by where they
// stand, and operations of a JSON patch.
const (
	patchedObject = "Object"
	jsonPatch     = "JSONPatch"
)

// patchTypes makes those types known. Every member of an object is there, of any
// type.
func patchTypes(env *cel.Env) (*cel.Env, error) {
	return cel.CustomTypeProvider(&patchProvider{env.CELTypeProvider()})(env)
}

type patchProvider struct{ types.Provider }

func isPatchedObject(name string) bool {
	return name == patchedObject || strings.HasPrefix(name, patchedObject+".")
}

// FindStructType finds a type by its name.
func (p *patchProvider) FindStructType(name string) (*types.Type, bool) {
	if name == jsonPatch || isPatchedObject(name) {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldType finds the type of a member.
func (p *patchProvider) FindStructFieldType(name, member string) (*types.FieldType, bool) {
	switch {
	case isPatchedObject(name), name == jsonPatch && member == "value":
		return &types.FieldType{Type: types.DynType}, true
	case name != jsonPatch:
		return p.Provider.FindStructFieldType(name, member)
	}
	switch member {
	case "op", "path", "from":
		return &types.FieldType{Type: types.StringType}, true
	}
	return nil, false
}

// escapeKey makes a key a part of a JSON pointer.
func escapeKey(key ref.Val) ref.Val {
	return types.String(strings.NewReplacer("~", "~0", "/", "~1").Replace(string(key.(types.String))))
}

var deviceEnv = sync.OnceValue(func() *cel.Env {
	perDomain := func(t *types.Type) *types.Type {
		return types.NewMapType(types.StringType, types.NewMapType(types.StringType, t))
	}
	const device = "kubernetes.DRADevice"
	env, err := base().Extend(
		objectType(device, map[string]*types.Type{
			"driver": types.StringType, "allowMultipleAllocations": types.BoolType,
			"attributes": perDomain(types.AnyType), "capacity": perDomain(quantityType),
		}),
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
