package cel

import (
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/kubefake/kubefake/internal/validation"
)

// The types of what an authorizer is asked, and of its answers.
var (
	authorizerType    = types.NewObjectType("kubernetes.authorization.Authorizer")
	pathCheckType     = types.NewObjectType("kubernetes.authorization.PathCheck")
	groupCheckType    = types.NewObjectType("kubernetes.authorization.GroupCheck")
	resourceCheckType = types.NewObjectType("kubernetes.authorization.ResourceCheck")
	decisionType      = types.NewObjectType("kubernetes.authorization.Decision")
)

// An Authorizer says whether somebody may do something.
type Authorizer interface {
	// Authorize answers a question. The error is for what went wrong in finding
	// the answer, which is then usually false.
	Authorize(a Access) (allowed bool, reason string, err error)
}

// An Access is what somebody would do.
type Access struct {
	// ServiceAccount is who; its zero value is the user of the request.
	ServiceAccount struct{ Namespace, Name string }

	Verb string
	// Path is that of a URL, "" for an access to a resource.
	Path string

	Group, Resource, Subresource string
	Namespace, Name              string
	// The selectors narrow a list or a watch down. They may be malformed.
	FieldSelector, LabelSelector string
}

// An AuthorizerVal is the value of a variable that asks an authorizer.
func AuthorizerVal(a Authorizer) ref.Val {
	return newCheck[authorizerVal](authorizerType, check{a, Access{}})
}

// A ResourceAuthorizerVal is the value of a variable that asks an authorizer
// about the resource of a request.
func ResourceAuthorizerVal(a Authorizer, request Access) ref.Val {
	return newCheck[resourceCheckVal](resourceCheckType, check{a, request})
}

// A check is a question that is being put together.
type check struct {
	authorizer Authorizer
	access     Access
}

func (c check) ask(verb types.String) ref.Val {
	c.access.Verb = string(verb)
	allowed, reason, err := c.authorizer.Authorize(c.access)
	return decisionVal{foreign[decision]{decisionType, decision{allowed, reason, err}}}
}

// A decision is an authorizer's answer.
type decision struct {
	allowed bool
	reason  string
	err     error
}

// The values are of one make, and differ in what expressions can do with them.
type (
	authorizerVal    struct{ foreign[check] }
	pathCheckVal     struct{ foreign[check] }
	groupCheckVal    struct{ foreign[check] }
	resourceCheckVal struct{ foreign[check] }
	decisionVal      struct{ foreign[decision] }
)

func newCheck[V ~struct{ foreign[check] }](typ *types.Type, c check) V {
	return V{foreign[check]{typ, c}}
}

// authorizerFunctions are those that put questions together, ask them and read
// the answer.
func authorizerFunctions() []function {
	// refine is a method that adds a word to the question about a resource.
	refine := func(name, overload string, set func(*Access, string)) function {
		return method(name, overload, takes(resourceCheckType, types.StringType), resourceCheckType,
			binary(func(c resourceCheckVal, word types.String) ref.Val {
				q := c.value
				set(&q.access, string(word))
				return newCheck[resourceCheckVal](resourceCheckType, q)
			}))
	}
	answer := func(name string, result *types.Type, read func(decision) ref.Val) function {
		return method(name, "decision_"+name, takes(decisionType), result, unary(func(d decisionVal) ref.Val { return read(d.value) }))
	}
	ask := method("check", "pathcheck_check", takes(pathCheckType, types.StringType), decisionType,
		binary(func(c pathCheckVal, verb types.String) ref.Val { return c.value.ask(verb) }))
	ask.overloads = append(ask.overloads, method("check", "resourcecheck_check", takes(resourceCheckType, types.StringType), decisionType,
		binary(func(c resourceCheckVal, verb types.String) ref.Val { return c.value.ask(verb) })).overloads...)
	return []function{
		method("path", "authorizer_path", takes(authorizerType, types.StringType), pathCheckType,
			binary(func(a authorizerVal, path types.String) ref.Val {
				if strings.TrimSpace(string(path)) == "" {
					return types.NewErr("path must not be empty")
				}
				q := a.value
				q.access.Path = string(path)
				return newCheck[pathCheckVal](pathCheckType, q)
			})),
		method("group", "authorizer_group", takes(authorizerType, types.StringType), groupCheckType,
			binary(func(a authorizerVal, group types.String) ref.Val {
				q := a.value
				q.access.Group = string(group)
				return newCheck[groupCheckVal](groupCheckType, q)
			})),
		method("serviceAccount", "authorizer_serviceaccount", takes(authorizerType, types.StringType, types.StringType), authorizerType,
			ternary(serviceAccount)),
		method("resource", "groupcheck_resource", takes(groupCheckType, types.StringType), resourceCheckType,
			binary(func(c groupCheckVal, resource types.String) ref.Val {
				if strings.TrimSpace(string(resource)) == "" {
					return types.NewErr("resource must not be empty")
				}
				q := c.value
				q.access.Resource = string(resource)
				return newCheck[resourceCheckVal](resourceCheckType, q)
			})),
		refine("subresource", "resourcecheck_subresource", func(a *Access, s string) { a.Subresource = s }),
		refine("namespace", "resourcecheck_namespace", func(a *Access, s string) { a.Namespace = s }),
		refine("name", "resourcecheck_name", func(a *Access, s string) { a.Name = s }),
		refine("fieldSelector", "authorizer_fieldselector", func(a *Access, s string) { a.FieldSelector = s }),
		refine("labelSelector", "authorizer_labelselector", func(a *Access, s string) { a.LabelSelector = s }),
		ask,
		answer("allowed", types.BoolType, func(d decision) ref.Val { return types.Bool(d.allowed) }),
		answer("reason", types.StringType, func(d decision) ref.Val { return types.String(d.reason) }),
		answer("errored", types.BoolType, func(d decision) ref.Val { return types.Bool(d.err != nil) }),
		answer("error", types.StringType, func(d decision) ref.Val {
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
	q := a.value
	q.access = Access{}
	q.access.ServiceAccount.Namespace, q.access.ServiceAccount.Name = string(namespace), string(name)
	return newCheck[authorizerVal](authorizerType, q)
}
