package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/object"
)

// An evaluation evaluates the expressions of an issuer on the claims of one token.
type evaluation struct {
	*issuer
	ctx    context.Context
	claims claims
	value  ref.Val // the variable claims
}

// user returns the user of the claims.
func (i *issuer) user(ctx context.Context, c claims) (*authn.User, error) {
	e := &evaluation{issuer: i, ctx: ctx, claims: c}
	if i.username != nil || i.groups != nil || i.uid != nil || len(i.extra)+len(i.claimRules) > 0 {
		decoded := make(map[string]any, len(c))
		for name, text := range c {
			var v any
			if err := json.Unmarshal(text, &v); err != nil {
				return nil, fmt.Errorf("oidc: parse claims: %w", err)
			}
			decoded[name] = v
		}
		e.value = cel.Unescaped(decoded)
	}
	user := &authn.User{}
	var err error
	if user.Name, err = e.username(); err != nil {
		return nil, err
	}
	if user.Groups, err = e.groups(); err != nil {
		return nil, err
	}
	if user.UID, err = e.uid(); err != nil {
		return nil, err
	}
	if user.Extra, err = e.extra(); err != nil {
		return nil, err
	}
	return user, e.check(user)
}

// eval evaluates an expression on the claims.
func (e *evaluation) eval(c *cel.Condition) (ref.Val, error) { return evaluate(e.ctx, c, e.value) }

func evaluate(ctx context.Context, c *cel.Condition, value any) (ref.Val, error) {
	v, err := c.Eval(ctx, value)
	if err != nil {
		return nil, fmt.Errorf("expression '%s' resulted in error: %w", c, err)
	}
	return v, nil
}

// text evaluates an expression whose result must be text.
func (e *evaluation) text(c *cel.Condition, what string) (string, error) {
	v, err := e.eval(c)
	if err == nil {
		if s, ok := v.(types.String); ok {
			return string(s), nil
		}
		err = fmt.Errorf("%s claim expression must return a string", what)
	}
	return "", fmt.Errorf("oidc: error evaluating %s claim expression: %w", what, err)
}

func (e *evaluation) username() (string, error) {
	if e.issuer.username != nil {
		name, err := e.text(e.issuer.username, "username")
		if err == nil && name == "" {
			err = errors.New("oidc: empty username via CEL expression is not allowed")
		}
		return name, err
	}
	m := &e.ClaimMappings.Username
	var name string
	if err := e.claims.get(m.Claim, &name); err != nil {
		return "", fmt.Errorf("oidc: parse username claims %q: %w", m.Claim, err)
	}
	if e.claims["email_verified"] != nil && m.Claim == "email" {
		var verified bool
		if err := e.claims.get("email_verified", &verified); err != nil {
			return "", fmt.Errorf("oidc: parse 'email_verified' claim: %w", err)
		}
		if !verified {
			return "", errors.New("oidc: email not verified")
		}
	}
	return *m.Prefix + name, nil
}

func (e *evaluation) groups() ([]string, error) {
	m := &e.ClaimMappings.Groups
	if m.Claim != "" && e.claims[m.Claim] != nil {
		var groups textOrList
		if err := e.claims.get(m.Claim, &groups); err != nil {
			return nil, fmt.Errorf("oidc: parse groups claim %q: %w", m.Claim, err)
		}
		for i := range groups {
			groups[i] = *m.Prefix + groups[i]
		}
		return groups, nil
	}
	if e.issuer.groups == nil {
		return nil, nil
	}
	v, err := e.eval(e.issuer.groups)
	var groups []string
	if err == nil {
		groups, err = textsOf(v)
	}
	if err != nil {
		return nil, fmt.Errorf("oidc: error evaluating group claim expression: %w", err)
	}
	return groups, nil
}

func (e *evaluation) uid() (uid string, err error) {
	switch claim := e.ClaimMappings.UID.Claim; {
	case claim != "":
		if err = e.claims.get(claim, &uid); err != nil {
			err = fmt.Errorf("oidc: parse uid claim %q: %w", claim, err)
		}
	case e.issuer.uid != nil:
		uid, err = e.text(e.issuer.uid, "uid")
	}
	return uid, err
}

func (e *evaluation) extra() (map[string][]string, error) {
	extra := map[string][]string{}
	var id string
	if e.claims.get("jti", &id) == nil && id != "" {
		extra[authn.ExtraCredentialID] = []string{authn.CredentialID(id)}
	}
	for _, m := range e.issuer.extra {
		v, err := e.eval(m.value)
		if err != nil {
			return nil, err
		}
		values, err := textsOf(v)
		if err != nil {
			return nil, fmt.Errorf("oidc: error evaluating extra claim expression: %s: %w", m.value, err)
		}
		if len(values) > 0 {
			extra[m.key] = values
		}
	}
	if len(extra) == 0 {
		return nil, nil
	}
	return extra, nil
}

// textsOf returns the result of an expression that is a text, a list of texts or null. It
// omits empty texts.
func textsOf(v ref.Val) ([]string, error) {
	var out []string
	add := func(v ref.Val) error {
		s, ok := v.(types.String)
		if !ok {
			return errors.New("expression must return a string or a list of strings")
		}
		if s != "" {
			out = append(out, string(s))
		}
		return nil
	}
	switch v := v.(type) {
	case types.Null:
		return nil, nil
	case traits.Lister:
		for it := v.Iterator(); it.HasNext() == types.True; {
			if err := add(it.Next()); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return out, add(v)
}

// check checks the rules of the issuer.
func (e *evaluation) check(user *authn.User) error {
	for _, r := range e.ClaimValidationRules {
		if r.Claim == "" {
			continue
		}
		if e.claims[r.Claim] == nil {
			return fmt.Errorf("oidc: required claim %s not present in ID token", r.Claim)
		}
		var value string
		if err := e.claims.get(r.Claim, &value); err != nil {
			return fmt.Errorf("oidc: parse claim %s: %w", r.Claim, err)
		}
		if value != r.RequiredValue {
			return fmt.Errorf("oidc: required claim %s value does not match. Got = %s, want = %s", r.Claim, value, r.RequiredValue)
		}
	}
	if err := checkRules(e.ctx, e.claimRules, e.value); err != nil {
		return fmt.Errorf("oidc: error evaluating claim validation expression: %w", err)
	}
	if len(e.userRules) == 0 {
		return nil
	}
	extra := map[string]any{}
	for key, values := range user.Extra {
		extra[key] = object.FromStrings(values)
	}
	info := cel.Unescaped(map[string]any{"username": user.Name, "uid": user.UID, "groups": object.FromStrings(user.Groups), "extra": extra})
	if err := checkRules(e.ctx, e.userRules, info); err != nil {
		return fmt.Errorf("oidc: error evaluating user info validation rule: %w", err)
	}
	return nil
}

// checkRules evaluates all rules and then fails for the first one that is false.
func checkRules(ctx context.Context, rules []rule, value any) error {
	results := make([]ref.Val, len(rules))
	for i, r := range rules {
		var err error
		if results[i], err = evaluate(ctx, r.condition, value); err != nil {
			return err
		}
	}
	for i, r := range rules {
		if results[i] != types.True {
			return fmt.Errorf("validation expression '%s' failed: %s", r.condition, r.message)
		}
	}
	return nil
}
