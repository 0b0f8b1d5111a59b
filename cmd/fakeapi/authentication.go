package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/authn/oidc"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/status"
)

// authenticationFlags are the flags of issuers of tokens and of a webhook for tokens, which serve and kube-apiserver
// have in common.
type authenticationFlags struct {
	config  string
	oidc    apiserver.OIDC
	caFile  string
	webhook apiserver.TokenWebhook

	sets []*pflag.FlagSet // that have the flags
}

// oidcPrefix is the beginning of the names of the flags of an OpenID Connect issuer.
const oidcPrefix = "oidc-"

func (a *authenticationFlags) define(fs flagSet) {
	a.sets = append(a.sets, fs.FlagSet)
	o := &a.oidc
	fs.StringVar(&a.config, "authentication-config", "", "authenticate the tokens of the issuers in the AuthenticationConfiguration `FILE`")
	fs.StringVar(&o.IssuerURL, oidcPrefix+"issuer-url", "", "authenticate the tokens of the OpenID Connect issuer at `URL`")
	fs.StringVar(&o.ClientID, oidcPrefix+"client-id", "", "tokens of the issuer must have the audience `ID`")
	fs.StringVar(&a.caFile, oidcPrefix+"ca-file", "", "trust the CAs in `FILE` as the issuer's")
	fs.StringVar(&o.UsernameClaim, oidcPrefix+"username-claim", "sub", "the `CLAIM` with the name of the user")
	fs.StringVar(&o.UsernamePrefix, oidcPrefix+"username-prefix", "", "the `PREFIX` of user names; - is none (default the issuer's URL and #, none for the claim email)")
	fs.StringVar(&o.GroupsClaim, oidcPrefix+"groups-claim", "", "the `CLAIM` with the groups of the user")
	fs.StringVar(&o.GroupsPrefix, oidcPrefix+"groups-prefix", "", "the `PREFIX` of groups")
	fs.StringSliceVar(&o.SigningAlgs, oidcPrefix+"signing-algs", []string{"RS256"}, "the signature algorithms that tokens may have, as in `ALGORITHM`,...")
	fs.StringVar(&a.webhook.Kubeconfig, "authentication-token-webhook-config-file", "", "authenticate tokens by the webhook in the kubeconfig `FILE`")
	fs.StringVar(&a.webhook.Version, "authentication-token-webhook-version", "v1beta1", "the `VERSION` of the TokenReviews for the webhook: v1 or v1beta1")
	fs.DurationVar(&a.webhook.CacheTTL, "authentication-token-webhook-cache-ttl", 2*time.Minute, "cache the answers of the webhook for `DURATION`")
	fs.Func(oidcPrefix+"required-claim", "tokens must have a claim with a value, as in `CLAIM=VALUE`; repeatable", a.require)
}

// require adds a required claim.
func (a *authenticationFlags) require(value string) error {
	claim, want, ok := strings.Cut(value, "=")
	if !ok {
		return errors.New("malformed pair, expect string=string")
	}
	if a.oidc.RequiredClaims == nil {
		a.oidc.RequiredClaims = map[string]string{}
	}
	a.oidc.RequiredClaims[strings.TrimSpace(claim)] = strings.TrimSpace(want)
	return nil
}

// hasOIDC reports whether a flag of an OpenID Connect issuer is set.
func (a *authenticationFlags) hasOIDC() (has bool) {
	for _, set := range a.sets {
		set.VisitAll(func(f *pflag.Flag) { has = has || f.Changed && strings.HasPrefix(f.Name, oidcPrefix) })
	}
	return has
}

// isSet reports whether the flags authenticate tokens.
func (a *authenticationFlags) isSet() bool {
	return a.config != "" || a.hasOIDC() || a.webhook.Kubeconfig != ""
}

// validate returns what is wrong with the flags, in the words of kube-apiserver.
func (a *authenticationFlags) validate() (errs []error) {
	switch hasOIDC := a.hasOIDC(); {
	case hasOIDC && a.config != "":
		errs = append(errs, errors.New("authentication-config file and oidc-* flags are mutually exclusive"))
	case hasOIDC && (a.oidc.IssuerURL == "" || a.oidc.ClientID == ""):
		errs = append(errs, errors.New("oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set"))
	}
	return errs
}

// apply sets what authenticates tokens for a server of a minor release, but for the file of
// --authentication-config, which it checks. hasAnonymous is whether a flag configures requests
// without credentials.
func (a *authenticationFlags) apply(out *apiserver.Authentication, minor int, hasAnonymous bool) error {
	files := fileReader{}
	if a.hasOIDC() {
		a.oidc.CA = files.read(a.caFile)
		if len(a.oidc.CA) > 0 && !x509.NewCertPool().AppendCertsFromPEM(a.oidc.CA) {
			return inputfile.Wrap(a.caFile, errors.New(`invalid authentication configuration: jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": data does not contain any valid RSA or ECDSA certificates`))
		}
		if a.oidc.UsernameClaim == "" { // which is the default of apiserver.OIDC
			return errors.New("invalid authentication configuration: jwt[0].claimMappings.username: Required value: claim or expression is required")
		}
		out.OIDC = &a.oidc
	}
	if a.webhook.Kubeconfig != "" {
		w := a.webhook
		w.CacheTTL = orNone(w.CacheTTL)
		out.TokenWebhook = &w
	}
	if a.config == "" || files.err != nil {
		return files.err
	}
	text, err := inputfile.Read(a.config)
	var parsed *oidc.Configuration
	if err == nil {
		parsed, err = oidc.Parse(text, minor)
	}
	switch {
	case err != nil:
		return fmt.Errorf("failed to load authentication configuration from file %q: %w", a.config, err)
	case parsed.Anonymous != nil && hasAnonymous:
		return errors.New("anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file")
	}
	return nil // the server reads the file
}

// authentication returns the options for the flags that authenticate tokens.
func (c *serveCommand) authentication(minor int) ([]fakeapi.Option, error) {
	if errs := c.authn.validate(); len(errs) > 0 {
		return nil, &usageError{errors.New(status.Aggregate(errs))}
	}
	if !c.authn.isSet() {
		return nil, nil
	}
	var out apiserver.Authentication
	if err := c.authn.apply(&out, minor, false); err != nil {
		return nil, err
	}
	c.watched.AuthenticationConfig = c.authn.config
	return []fakeapi.Option{fakeapi.WithAPIServer(apiserver.Config{Authentication: &out})}, nil
}
