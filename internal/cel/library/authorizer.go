package library

import (
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/kubefake/kubefake/internal/validation"
)

// The types of the authorizer library. NewAuthorizer returns an AuthorizerType,
// NewResourceCheck a ResourceCheckType.
var (
	AuthorizerType    = types.NewObjectType("kubernetes.authorization.Authorizer")
	pathCheckType     = types.NewObjectType("kubernetes.authorization.PathCheck")
	groupCheckType    = types.NewObjectType("kubernetes.authorization.GroupCheck")
	ResourceCheckType = types.NewObjectType("kubernetes.authorization.ResourceCheck")
	decisionType      = types.NewObjectType("kubernetes.authorization.Decision")
)

// An Authorizer makes authorization decisions for expressions.
type Authorizer interface {
	// Authorize reports whether an access is allowed, and why. If err is not nil,
	// the decision could not be made and allowed is usually false.
	Authorize(a AuthorizerAttributes) (allowed bool, reason string, err error)
}

// AuthorizerAttributes describe the access that an expression checks.
type AuthorizerAttributes struct {
	// ServiceAccount is the user. The zero value means the user of the request.
	ServiceAccount struct{ Namespace, Name string }

	Verb string
	// Path is the path of a non-resource URL, "" for access to a resource.
	Path string

	Group, Resource, Subresource string
	Namespace, Name              string
	// The selectors restrict a list or a watch. They may be invalid.
	FieldSelector, LabelSelector string
}

// NewAuthorizer returns the value of the variable authorizer.
func NewAuthorizer(a Authorizer) ref.Val {
	return newCheck[authorizerVal](AuthorizerType, check{a, AuthorizerAttributes{}})
}

// NewResourceCheck returns the value of the variable authorizer.requestResource for a
// request.
func NewResourceCheck(a Authorizer, request AuthorizerAttributes) ref.Val {
	return newCheck[resourceCheckVal](ResourceCheckType, check{a, request})
}

// A check is an authorization check that an expression builds.
type check struct {
	authorizer Authorizer
	access     AuthorizerAttributes
}

func (c check) authorize(verb types.String) ref.Val {
	c.access.Verb = string(verb)
	allowed, reason, err := c.authorizer.Authorize(c.access)
	return decisionVal{NewVal(decisionType, decision{allowed, reason, err})}
}

// A decision is the result of an authorization check.
type decision struct {
	allowed bool
	reason  string
	err     error
}

// The values of the types of the library.
type (
	authorizerVal    struct{ Val[check] }
	pathCheckVal     struct{ Val[check] }
	groupCheckVal    struct{ Val[check] }
	resourceCheckVal struct{ Val[check] }
	decisionVal      struct{ Val[decision] }
)

func newCheck[V ~struct{ Val[check] }](typ *types.Type, c check) V {
	return V{NewVal(typ, c)}
}

// authorizerFunctions returns the functions of the authorizer library.
func authorizerFunctions() []function {
	// setAttribute declares a method that sets an attribute of a resource check.
	setAttribute := func(name, overload string, set func(*AuthorizerAttributes, string)) function {
		return method(name, overload, argTypes(ResourceCheckType, types.StringType), ResourceCheckType,
			binary(func(c resourceCheckVal, value types.String) ref.Val {
				chk := c.Native
				set(&chk.access, string(value))
				return newCheck[resourceCheckVal](ResourceCheckType, chk)
			}))
	}
	decisionField := func(name string, result *types.Type, read func(decision) ref.Val) function {
		return method(name, "decision_"+name, argTypes(decisionType), result, unary(func(d decisionVal) ref.Val { return read(d.Native) }))
	}
	checkFunction := method("check", "pathcheck_check", argTypes(pathCheckType, types.StringType), decisionType,
		binary(func(c pathCheckVal, verb types.String) ref.Val { return c.Native.authorize(verb) }))
	checkFunction.overloads = append(checkFunction.overloads, method("check", "resourcecheck_check", argTypes(ResourceCheckType, types.StringType), decisionType,
		binary(func(c resourceCheckVal, verb types.String) ref.Val { return c.Native.authorize(verb) })).overloads...)
	return []function{
		method("path", "authorizer_path", argTypes(AuthorizerType, types.StringType), pathCheckType,
			binary(func(a authorizerVal, path types.String) ref.Val {
				if strings.TrimSpace(string(path)) == "" {
					return types.NewErr("path must not be empty")
				}
				chk := a.Native
				chk.access.Path = string(path)
				return newCheck[pathCheckVal](pathCheckType, chk)
			})),
		method("group", "authorizer_group", argTypes(AuthorizerType, types.StringType), groupCheckType,
			binary(func(a authorizerVal, group types.String) ref.Val {
				chk := a.Native
				chk.access.Group = string(group)
				return newCheck[groupCheckVal](groupCheckType, chk)
			})),
		method("serviceAccount", "authorizer_serviceaccount", argTypes(AuthorizerType, types.StringType, types.StringType), AuthorizerType,
			ternary(serviceAccount)),
		method("resource", "groupcheck_resource", argTypes(groupCheckType, types.StringType), ResourceCheckType,
			binary(func(c groupCheckVal, resource types.String) ref.Val {
				if strings.TrimSpace(string(resource)) == "" {
					return types.NewErr("resource must not be empty")
				}
				chk := c.Native
				chk.access.Resource = string(resource)
				return newCheck[resourceCheckVal](ResourceCheckType, chk)
			})),
		setAttribute("subresource", "resourcecheck_subresource", func(a *AuthorizerAttributes, s string) { a.Subresource = s }),
		setAttribute("namespace", "resourcecheck_namespace", func(a *AuthorizerAttributes, s string) { a.Namespace = s }),
		setAttribute("name", "resourcecheck_name", func(a *AuthorizerAttributes, s string) { a.Name = s }),
		setAttribute("fieldSelector", "authorizer_fieldselector", func(a *AuthorizerAttributes, s string) { a.FieldSelector = s }),
		setAttribute("labelSelector", "authorizer_labelselector", func(a *AuthorizerAttributes, s string) { a.LabelSelector = s }),
		checkFunction,
		decisionField("allowed", types.BoolType, func(d decision) ref.Val { return types.Bool(d.allowed) }),
		decisionField("reason", types.StringType, func(d decision) ref.Val { return types.String(d.reason) }),
		decisionField("errored", types.BoolType, func(d decision) ref.Val { return types.Bool(d.err != nil) }),
		decisionField("error", types.StringType, func(d decision) ref.Val {
			if d.err == nil {
				return types.String("")
			}
			return types.String(d.err.Error())
		}),
	}
}

func serviceAccount(a authorizerVal, namespace, name types.String) ref.Val {
	switch {
	case len(validation.SubdomainName(string(name), false)) > 0:
		return types.NewErr("Invalid service account name")
	case len(validation.LabelName(string(namespace), false)) > 0:
		return types.NewErr("Invalid service account namespace")
	}
	chk := a.Native
	chk.access = AuthorizerAttributes{}
	chk.access.ServiceAccount.Namespace, chk.access.ServiceAccount.Name = string(namespace), string(name)
	return newCheck[authorizerVal](AuthorizerType, chk)
}
