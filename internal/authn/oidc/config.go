package oidc

import (
	"errors"

	"github.com/kubefake/kubefake/internal/configfile"
	"github.com/kubefake/kubefake/internal/release/behavior"
)

// A Configuration is an AuthenticationConfiguration of apiserver.config.k8s.io.
type Configuration struct {
	JWT       []JWT      `json:"jwt"`
	Anonymous *Anonymous `json:"anonymous"`
}

// Anonymous configures requests without credentials.
type Anonymous struct {
	Enabled    bool                 `json:"enabled"`
	Conditions []AnonymousCondition `json:"conditions"`
}

// An AnonymousCondition allows a path to requests without credentials.
type AnonymousCondition struct {
	Path string `json:"path"`
}

// A JWT configures the tokens of one issuer.
type JWT struct {
	Issuer               Issuer      `json:"issuer"`
	ClaimValidationRules []ClaimRule `json:"claimValidationRules"`
	ClaimMappings        Mappings    `json:"claimMappings"`
	UserValidationRules  []UserRule  `json:"userValidationRules"`
}

// An Issuer issues tokens.
type Issuer struct {
	URL                  string   `json:"url"`
	DiscoveryURL         string   `json:"discoveryURL"`
	CertificateAuthority string   `json:"certificateAuthority"` // in PEM
	Audiences            []string `json:"audiences"`
	AudienceMatchPolicy  string   `json:"audienceMatchPolicy"`
	EgressSelectorType   string   `json:"egressSelectorType"`
}

// A ClaimRule requires the value of a claim, or that an expression is true.
type ClaimRule struct {
	Claim         string `json:"claim"`
	RequiredValue string `json:"requiredValue"`
	Expression    string `json:"expression"`
	Message       string `json:"message"`
}

// A UserRule requires that an expression is true for the user.
type UserRule struct {
	Expression string `json:"expression"`
	Message    string `json:"message"`
}

// Mappings say how claims become a user.
type Mappings struct {
	Username Mapping        `json:"username"`
	Groups   Mapping        `json:"groups"`
	UID      UIDMapping     `json:"uid"`
	Extra    []ExtraMapping `json:"extra"`
}

// A Mapping is a claim with a prefix, or an expression.
type Mapping struct {
	Claim      string  `json:"claim"`
	Prefix     *string `json:"prefix"`
	Expression string  `json:"expression"`
}

// A UIDMapping is a claim or an expression.
type UIDMapping struct {
	Claim      string `json:"claim"`
	Expression string `json:"expression"`
}

// An ExtraMapping is the expression of a value of User.Extra.
type ExtraMapping struct {
	Key             string `json:"key"`
	ValueExpression string `json:"valueExpression"`
}

// Parse reads an AuthenticationConfiguration in YAML or JSON, in a version that a
// kube-apiserver of a minor release knows. It does not validate the content.
func Parse(text []byte, minor int) (*Configuration, error) {
	if len(text) == 0 {
		return nil, errors.New("empty config data")
	}
	versions := []string{"v1alpha1", "v1beta1"}
	if behavior.AuthenticationConfigurationV1.In(minor) {
		versions = append(versions, "v1")
	}
	c := &Configuration{}
	return c, configfile.Decode(text, "AuthenticationConfiguration", versions, minor, c)
}
