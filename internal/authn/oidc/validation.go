package oidc

import (
	"crypto/x509"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"

	"github.com/kubefake/kubefake/internal/authn/jwt"
	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/validation"
)

// Options are what Compile needs beside a Configuration.
type Options struct {
	// Minor is that of the release, whose CEL libraries expressions may use.
	Minor int

	// SigningAlgorithms are those that tokens may have. None means all.
	SigningAlgorithms []string

	// Disallowed are issuers that the configuration must not have: those of service
	// accounts.
	Disallowed []string
}

// Issuers are the issuers of a valid Configuration with compiled expressions. They are
// immutable.
type Issuers struct{ list []*issuer }

// An issuer is a JWT with compiled expressions.
type issuer struct {
	JWT
	roots                 *x509.CertPool // nil: those of the host
	algorithms            []string
	username, groups, uid *cel.Condition // nil without an expression
	extra                 []extraMapping
	claimRules, userRules []rule
}

type extraMapping struct {
	key   string
	value *cel.Condition
}

// A rule is an expression that must be true.
type rule struct {
	condition *cel.Condition
	message   string
}

const maxIssuers = 64

// Compile validates the configuration and compiles its expressions. The errors are those
// of kube-apiserver.
func (c *Configuration) Compile(o Options) (*Issuers, error) {
	out, errs := c.compile(o)
	if len(errs) > 0 {
		return nil, fmt.Errorf("invalid authentication configuration: %s", errs.Message())
	}
	for _, i := range out.list {
		if slices.Contains(o.Disallowed, i.Issuer.URL) {
			return nil, validation.Invalid(validation.NewPath("issuer", "url"), i.Issuer.URL,
				fmt.Sprintf("URL must not overlap with disallowed issuers: %s", slices.Compact(slices.Sorted(slices.Values(o.Disallowed)))))
		}
		for _, name := range o.SigningAlgorithms {
			if !slices.Contains(jwt.Algorithms(), name) {
				return nil, fmt.Errorf("oidc: unsupported signing alg: %q", name)
			}
		}
		if selector := i.Issuer.EgressSelectorType; selector != "" {
			return nil, fmt.Errorf("oidc: egress lookup required with egress selector type %q", selector)
		}
	}
	return out, nil
}

func (c *Configuration) compile(o Options) (*Issuers, validation.List) {
	root := validation.NewPath("jwt")
	if len(c.JWT) > maxIssuers {
		return nil, validation.List{validation.TooMany(root, len(c.JWT), maxIssuers)}
	}
	if len(o.SigningAlgorithms) == 0 {
		o.SigningAlgorithms = jwt.Algorithms()
	}
	compiler := &compiler{
		claims: cel.NewClaims(cel.Version(o.Minor)), user: cel.NewUserInfo(cel.Version(o.Minor)), Options: o,
	}
	out := &Issuers{}
	var urls, discoveryURLs []string
	for i := range c.JWT {
		at := root.Index(i)
		out.list = append(out.list, compiler.compile(&c.JWT[i], at))
		where := c.JWT[i].Issuer
		if slices.Contains(urls, where.URL) {
			compiler.add(validation.Duplicate(at.Child("issuer").Child("url"), where.URL))
		}
		urls = append(urls, where.URL)
		if where.DiscoveryURL != "" {
			if slices.Contains(discoveryURLs, where.DiscoveryURL) {
				compiler.add(validation.Duplicate(at.Child("issuer").Child("discoveryURL"), where.DiscoveryURL))
			}
			discoveryURLs = append(discoveryURLs, where.DiscoveryURL)
		}
	}
	if a := c.Anonymous; a != nil && !a.Enabled && len(a.Conditions) > 0 {
		printed := make([]struct{ Path string }, len(a.Conditions))
		for i := range printed {
			printed[i].Path = a.Conditions[i].Path
		}
		compiler.add(validation.Invalid(validation.NewPath("anonymous", "conditions"), printed, "enabled should be set to true when conditions are defined"))
	}
	return out, compiler.errs
}

// A compiler compiles issuers and collects errors.
type compiler struct {
	Options
	claims, user *cel.Environment
	errs         validation.List
}

func (c *compiler) add(errs ...*validation.Error) { c.errs = append(c.errs, errs...) }

func (c *compiler) compile(j *JWT, at *validation.Path) *issuer {
	out := &issuer{JWT: *j, algorithms: c.SigningAlgorithms}
	c.issuer(out, at.Child("issuer"))
	c.claimRules(out, at.Child("claimValidationRules"))
	c.mappings(out, at.Child("claimMappings"))
	c.userRules(out, at.Child("userValidationRules"))
	return out
}

// expression compiles an expression; nil if it does not compile.
func (c *compiler) expression(env *cel.Environment, text string, result *types.Type, at *validation.Path) *cel.Condition {
	condition, err := env.Compile(text, result)
	if err != nil {
		c.add(cel.Invalid(at, text, err))
		return nil
	}
	return condition
}

func (c *compiler) issuer(out *issuer, at *validation.Path) {
	i := &out.Issuer
	if i.URL == "" {
		c.add(validation.Required(at.Child("url"), ""))
	} else {
		c.url(i.URL, at.Child("url"))
	}
	if i.DiscoveryURL != "" {
		if i.URL != "" && strings.TrimRight(i.URL, "/") == strings.TrimRight(i.DiscoveryURL, "/") {
			c.add(validation.Invalid(at.Child("discoveryURL"), i.DiscoveryURL, "discoveryURL must be different from URL"))
		}
		c.url(i.DiscoveryURL, at.Child("discoveryURL"))
	}
	c.audiences(i, at)
	if i.CertificateAuthority != "" {
		out.roots = x509.NewCertPool()
		if !out.roots.AppendCertsFromPEM([]byte(i.CertificateAuthority)) {
			c.add(validation.Invalid(at.Child("certificateAuthority"), "<omitted>", "data does not contain any valid RSA or ECDSA certificates"))
		}
	}
	switch i.EgressSelectorType {
	case "", "controlplane", "cluster":
	default:
		c.add(validation.Invalid(at.Child("egressSelectorType"), validation.NamedString(i.EgressSelectorType), "egress selector must be either controlplane or cluster"))
	}
}

// url checks the URL of an issuer or of its discovery document.
func (c *compiler) url(text string, at *validation.Path) {
	u, err := url.Parse(text)
	if err != nil {
		c.add(validation.Invalid(at, text, err.Error()))
		return
	}
	for _, check := range []struct {
		wrong  bool
		detail string
	}{
		{u.Scheme != "https", "URL scheme must be https"},
		{u.User != nil, "URL must not contain a username or password"},
		{u.RawQuery != "", "URL must not contain a query"},
		{u.Fragment != "", "URL must not contain a fragment"},
	} {
		if check.wrong {
			c.add(validation.Invalid(at, text, check.detail))
		}
	}
}

const matchAny = "MatchAny"

func (c *compiler) audiences(i *Issuer, at *validation.Path) {
	list, policy := at.Child("audiences"), at.Child("audienceMatchPolicy")
	if len(i.Audiences) == 0 {
		c.add(validation.Required(list, fmt.Sprintf("at least one %s is required", list)))
		return
	}
	for n, audience := range i.Audiences {
		if audience == "" {
			c.add(validation.Required(list.Index(n), ""))
		}
		if slices.Contains(i.Audiences[:n], audience) {
			c.add(validation.Duplicate(list.Index(n), audience))
		}
	}
	value := validation.NamedString(i.AudienceMatchPolicy)
	switch {
	case value == matchAny:
	case len(i.Audiences) > 1:
		c.add(validation.Invalid(policy, value, "audienceMatchPolicy must be MatchAny for multiple audiences"))
	case value != "":
		c.add(validation.Invalid(policy, value, "audienceMatchPolicy must be empty or MatchAny for single audience"))
	}
}

func (c *compiler) claimRules(out *issuer, list *validation.Path) {
	var claims, expressions []string
	for i, r := range out.ClaimValidationRules {
		at := list.Index(i)
		switch {
		case r.Claim != "" && r.Expression != "":
			c.add(validation.Invalid(at, r.Claim, "claim and expression can't both be set"))
		case r.Claim != "":
			if r.Message != "" {
				c.add(validation.Invalid(at.Child("message"), r.Message, "may not be specified when claim is set"))
			}
			if slices.Contains(claims, r.Claim) {
				c.add(validation.Duplicate(at.Child("claim"), r.Claim))
			}
			claims = append(claims, r.Claim)
		case r.Expression != "":
			if r.RequiredValue != "" {
				c.add(validation.Invalid(at.Child("requiredValue"), r.RequiredValue, "may not be specified when expression is set"))
			}
			if slices.Contains(expressions, r.Expression) {
				c.add(validation.Duplicate(at.Child("expression"), r.Expression))
				continue
			}
			expressions = append(expressions, r.Expression)
			if condition := c.expression(c.claims, r.Expression, cel.Bool, at.Child("expression")); condition != nil {
				out.claimRules = append(out.claimRules, rule{condition, r.Message})
			}
		default:
			c.add(validation.Required(at, "claim or expression is required"))
		}
	}
}

func (c *compiler) mappings(out *issuer, at *validation.Path) {
	m := &out.ClaimMappings
	out.username = c.mapping(&m.Username, at.Child("username"), true)
	out.groups = c.mapping(&m.Groups, at.Child("groups"), false)
	switch {
	case m.UID.Claim != "" && m.UID.Expression != "":
		c.add(validation.Invalid(at.Child("uid"), "", "claim and expression can't both be set"))
	case m.UID.Expression != "":
		out.uid = c.expression(c.claims, m.UID.Expression, nil, at.Child("uid").Child("expression"))
	}
	c.extra(out, at.Child("extra"))
	if out.username == nil || !out.username.Selects("claims", "email") || out.selectsEmailVerified() {
		return
	}
	c.add(validation.Invalid(at.Child("username").Child("expression"), m.Username.Expression, "claims.email_verified must be used in "+
		"claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression "+
		"when claims.email is used in claimMappings.username.expression"))
}

// selectsEmailVerified reports whether an expression checks that the email address is
// verified.
func (i *issuer) selectsEmailVerified() bool {
	conditions := []*cel.Condition{i.username}
	for _, e := range i.extra {
		conditions = append(conditions, e.value)
	}
	for _, r := range i.claimRules {
		conditions = append(conditions, r.condition)
	}
	return slices.ContainsFunc(conditions, func(c *cel.Condition) bool { return c.Selects("claims", "email_verified") })
}

// mapping checks a mapping and compiles its expression; nil without one.
func (c *compiler) mapping(m *Mapping, at *validation.Path, required bool) *cel.Condition {
	switch {
	case m.Expression != "" && m.Claim != "":
		c.add(validation.Invalid(at, "", "claim and expression can't both be set"))
	case m.Expression != "":
		if m.Prefix != nil {
			c.add(validation.Invalid(at.Child("prefix"), *m.Prefix, "may not be specified when expression is set"))
		}
		return c.expression(c.claims, m.Expression, nil, at.Child("expression"))
	case m.Claim != "":
		if m.Prefix == nil {
			c.add(validation.Required(at.Child("prefix"), "prefix is required when claim is set. It can be set to an empty string to disable prefixing"))
		}
	case required:
		c.add(validation.Required(at, "claim or expression is required"))
	}
	return nil
}

func (c *compiler) extra(out *issuer, list *validation.Path) {
	var keys []string
	for i, m := range out.ClaimMappings.Extra {
		at := list.Index(i)
		key := at.Child("key")
		c.add(validation.DomainPrefixedPath(m.Key, key)...)
		if m.Key != strings.ToLower(m.Key) {
			c.add(validation.Invalid(key, m.Key, "must be lowercase"))
		}
		if domain, _, ok := strings.Cut(m.Key, "/"); ok && isReserved(domain) {
			c.add(validation.Invalid(key, m.Key, "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use"))
		}
		if slices.Contains(keys, m.Key) {
			c.add(validation.Duplicate(key, m.Key))
			continue
		}
		keys = append(keys, m.Key)
		if m.ValueExpression == "" {
			c.add(validation.Required(at.Child("valueExpression"), ""))
			continue
		}
		if value := c.expression(c.claims, m.ValueExpression, nil, at.Child("valueExpression")); value != nil {
			out.extra = append(out.extra, extraMapping{m.Key, value})
		}
	}
}

// isReserved reports whether a domain is one of Kubernetes.
func isReserved(domain string) bool {
	return slices.ContainsFunc([]string{"k8s.io", "kubernetes.io"}, func(d string) bool { return domain == d || strings.HasSuffix(domain, "."+d) })
}

func (c *compiler) userRules(out *issuer, list *validation.Path) {
	var expressions []string
	for i, r := range out.UserValidationRules {
		at := list.Index(i).Child("expression")
		switch {
		case r.Expression == "":
			c.add(validation.Required(at, ""))
			continue
		case slices.Contains(expressions, r.Expression):
			c.add(validation.Duplicate(at, r.Expression))
			continue
		}
		expressions = append(expressions, r.Expression)
		if condition := c.expression(c.user, r.Expression, cel.Bool, at); condition != nil {
			out.userRules = append(out.userRules, rule{condition, r.Message})
		}
	}
}
