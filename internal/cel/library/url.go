package library

import (
	"net/url"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// URLType is the type of URLs.
var URLType = types.NewObjectType("kubernetes.URL")

// urlVal is the CEL value of a URL.
type urlVal struct{ Val[*url.URL] }

// Equal compares URLs by their text.
func (v urlVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(urlVal)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(v.Native.String() == o.Native.String())
}

// urlFunctions returns the URL library.
func urlFunctions() []function {
	getter := func(name, overload string, get func(*url.URL) string) function {
		return method(name, overload, argTypes(URLType), types.StringType, unary(func(u urlVal) ref.Val { return types.String(get(u.Native)) }))
	}
	return []function{
		global("url", "string_to_url", argTypes(types.StringType), URLType, unary(parseURL)),
		global("isURL", "is_url_string", argTypes(types.StringType), types.BoolType, unary(func(s types.String) ref.Val {
			_, err := url.ParseRequestURI(string(s))
			return types.Bool(err == nil)
		})),
		getter("getScheme", "url_get_scheme", func(u *url.URL) string { return u.Scheme }),
		getter("getHost", "url_get_host", func(u *url.URL) string { return u.Host }),
		getter("getHostname", "url_get_hostname", (*url.URL).Hostname),
		getter("getPort", "url_get_port", (*url.URL).Port),
		getter("getEscapedPath", "url_get_escaped_path", (*url.URL).EscapedPath),
		method("getQuery", "url_get_query", argTypes(URLType), types.NewMapType(types.StringType, types.NewListType(types.StringType)),
			unary(func(u urlVal) ref.Val {
				query := map[ref.Val]ref.Val{}
				for name, values := range u.Native.Query() {
					query[types.String(name)] = types.NewStringList(types.DefaultTypeAdapter, values)
				}
				return types.NewRefValMap(types.DefaultTypeAdapter, query)
			})),
	}
}

// parseURL returns an absolute URL or a path. url.ParseRequestURI rejects other text,
// but it does not parse fragments; url.Parse does.
func parseURL(s types.String) ref.Val {
	_, err := url.ParseRequestURI(string(s))
	if err == nil {
		var u *url.URL
		if u, err = url.Parse(string(s)); err == nil {
			return urlVal{NewVal(URLType, u)}
		}
	}
	return types.NewErr("URL parse error during conversion from string: %v", err)
}
