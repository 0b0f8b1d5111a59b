package library

import (
	"regexp"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// regexFunctions returns the regex library: find and findAll.
func regexFunctions() []function {
	strings := types.NewListType(types.StringType)
	return []function{
		method("find", "string_find_string", argTypes(types.StringType, types.StringType), types.StringType,
			binary(func(s, expr types.String) ref.Val {
				return withRegexp(expr, func(re *regexp.Regexp) ref.Val { return find(re, s) })
			})),
		{"findAll", []cel.FunctionOpt{
			cel.MemberOverload("string_find_all_string", argTypes(types.StringType, types.StringType), strings,
				binary(func(s, expr types.String) ref.Val {
					return withRegexp(expr, func(re *regexp.Regexp) ref.Val { return findAll(re, s, types.IntNegOne) })
				})),
			cel.MemberOverload("string_find_all_string_int", argTypes(types.StringType, types.StringType, types.IntType), strings,
				ternary(func(s, expr types.String, n types.Int) ref.Val {
					return withRegexp(expr, func(re *regexp.Regexp) ref.Val { return findAll(re, s, n) })
				})),
		}},
	}
}

// withRegexp calls do with a compiled regular expression, or returns the error.
func withRegexp(expr types.String, do func(*regexp.Regexp) ref.Val) ref.Val {
	re, err := regexp.Compile(string(expr))
	if err != nil {
		return types.NewErr("Illegal regex: %v", err.Error())
	}
	return do(re)
}

func find(re *regexp.Regexp, s types.String) ref.Val { return types.String(re.FindString(string(s))) }

func findAll(re *regexp.Regexp, s types.String, n types.Int) ref.Val {
	return types.NewStringList(types.DefaultTypeAdapter, re.FindAllString(string(s), int(n)))
}

// RegexFunction returns the function of a name whose second argument is a regular
// expression, for a compiled one, which do uses instead of args[1]. It returns nil for
// other names.
func RegexFunction(name string) (do func(re *regexp.Regexp, args []ref.Val) ref.Val) {
	return regexFunctionsByName[name]
}

// regexFunctionsByName has the functions of RegexFunction.
var regexFunctionsByName = map[string]func(re *regexp.Regexp, args []ref.Val) ref.Val{
	overloads.Matches: func(re *regexp.Regexp, args []ref.Val) ref.Val {
		s, ok := args[0].Value().(string)
		if !ok {
			return types.NoSuchOverloadErr()
		}
		return types.Bool(re.MatchString(s))
	},
	"find": func(re *regexp.Regexp, args []ref.Val) ref.Val {
		s, ok := args[0].(types.String)
		if !ok {
			return types.MaybeNoSuchOverloadErr(args[0])
		}
		return find(re, s)
	},
	"findAll": func(re *regexp.Regexp, args []ref.Val) ref.Val {
		s, ok := args[0].(types.String)
		if !ok {
			return types.MaybeNoSuchOverloadErr(args[0])
		}
		n := types.IntNegOne
		if len(args) > 2 {
			if n, ok = args[2].(types.Int); !ok {
				return types.MaybeNoSuchOverloadErr(args[2])
			}
		}
		return findAll(re, s, n)
	},
}
