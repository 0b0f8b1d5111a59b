package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/admission/manifest"
	"github.com/kubefake/kubefake/internal/admission/plugin/defaulttolerationseconds"
	"github.com/kubefake/kubefake/internal/admission/plugin/eventratelimit"
	"github.com/kubefake/kubefake/internal/admission/plugin/imagepolicywebhook"
	"github.com/kubefake/kubefake/internal/admission/plugin/podnodeselector"
	"github.com/kubefake/kubefake/internal/admission/plugin/podsecurity"
	"github.com/kubefake/kubefake/internal/admission/plugin/podtolerationrestriction"
	"github.com/kubefake/kubefake/internal/admission/plugin/resourcequota"
	"github.com/kubefake/kubefake/internal/configfile"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// A configuration is what an AdmissionConfiguration and a Selection say of the plugins that have
// one. The zero value is the default.
//
// See https://kubernetes.io/docs/reference/config-api/apiserver-config.v1/#apiserver-config-k8s-io-v1-AdmissionConfiguration.
type configuration struct {
	quota              resourcequota.Plugin
	podSecurity        podsecurity.Plugin
	podSelector        podnodeselector.Plugin
	tolerations        podtolerationrestriction.Plugin
	defaultTolerations defaulttolerationseconds.Plugin
	eventLimits        *eventratelimit.Plugin     // nil if the plugin is not enabled
	images             *imagepolicywebhook.Plugin // nil if the plugin is not enabled
	// credentials are those for the webhooks of a plugin, by its name.
	credentials map[string]*kubeconfig.Users
	// manifests are the folders of the plugins of webhooks and policies, and what they had
	// at the start.
	manifests []Manifests

	types   *resource.Types
	release validation.Release
}

// Manifests are the webhooks or the policies that a plugin reads from a folder.
type Manifests struct {
	manifest.Source
	Set *manifest.Set
}

// admissionKinds and webhookKinds are the kinds of an AdmissionConfiguration, and of what it
// has for the plugins of webhooks.
var (
	admissionKinds = []configfile.Kind{
		{APIVersion: configfile.Group + "/v1", Kind: "AdmissionConfiguration"},
		{APIVersion: "apiserver.k8s.io/v1alpha1", Kind: "AdmissionConfiguration"},
	}
	webhookKinds = []configfile.Kind{
		{APIVersion: configfile.Group + "/v1", Kind: "WebhookAdmissionConfiguration"},
		{APIVersion: configfile.Group + "/v1alpha1", Kind: "WebhookAdmission"},
	}
)

// policyKinds are the kinds of what an AdmissionConfiguration has for the plugins of
// policies. A plugin accepts only its own kind.
var policyKinds = []configfile.Kind{
	{APIVersion: configfile.Group + "/v1", Kind: "MutatingAdmissionPolicyConfiguration"},
	{APIVersion: configfile.Group + "/v1", Kind: "ValidatingAdmissionPolicyConfiguration"},
}

// An admissionConfiguration is the file.
type admissionConfiguration struct {
	Plugins []struct {
		Name          string          `json:"name"`
		Path          string          `json:"path"`
		Configuration json.RawMessage `json:"configuration"`
	} `json:"plugins"`
}

// read reads an AdmissionConfiguration and what it has for enabled plugins. The errors are
// those of kube-apiserver. Plugins without a configuration here ignore theirs.
func (c *configuration) read(file string, enabled func(name string) bool) error {
	var all admissionConfiguration
	text, err := inputfile.Read(file)
	if err != nil {
		return fmt.Errorf("failed to apply admission: failed to read plugin config: unable to read admission control configuration from %q [%w]", file, err)
	}
	if isLegacy(text) {
		return c.setAll(map[string][]byte{"ImagePolicyWebhook": text, "PodNodeSelector": text}, enabled)
	}
	var other *configfile.OtherKindError
	if errors.As(configfile.CheckKind(text, "AdmissionConfiguration"), &other) {
		return fmt.Errorf("failed to apply admission: failed to read plugin config: unexpected type: *apiserver.%s", other.Got.Kind)
	}
	if err := configfile.DecodeAny(text, admissionKinds, c.release.Minor(), &all); err != nil {
		return fmt.Errorf("failed to apply admission: failed to read plugin config: %w", err)
	}
	given := map[string][]byte{}
	for _, p := range all.Plugins {
		if _, again := given[p.Name]; again || !enabled(p.Name) {
			continue
		}
		body := []byte(p.Configuration)
		if string(body) == "null" {
			body = nil
		}
		if body == nil && p.Path != "" {
			if !filepath.IsAbs(p.Path) {
				p.Path = filepath.Join(filepath.Dir(file), p.Path)
			}
			if body, err = inputfile.Read(p.Path); err != nil {
				return fmt.Errorf("Couldn't open admission plugin configuration %s: %w", p.Path, err)
			}
		}
		given[p.Name] = body
	}
	return c.setAll(given, enabled)
}

// isLegacy reports whether a file is not an AdmissionConfiguration but the configuration of
// ImagePolicyWebhook or of PodNodeSelector itself.
func isLegacy(text []byte) bool {
	body, kind, err := configfile.Identify(text)
	if err != nil || slices.Contains(admissionKinds, kind) {
		return false
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return false
	}
	return fields["imagePolicy"] != nil || fields["podNodeSelectorPluginConfig"] != nil
}

// setAll sets the configurations of the enabled plugins, by their names. Some plugins need
// one.
func (c *configuration) setAll(given map[string][]byte, enabled func(name string) bool) error {
	for _, p := range allPlugins {
		body := given[p.name]
		if !enabled(p.name) || body == nil && !needsConfiguration[p.name] {
			continue
		}
		if err := c.set(p.name, body); err != nil {
			return fmt.Errorf("failed to apply admission: %w", err)
		}
	}
	return nil
}

// needsConfiguration are the plugins that fail without a configuration.
var needsConfiguration = map[string]bool{"EventRateLimit": true, "ImagePolicyWebhook": true}

// set sets the configuration of a plugin, nil for none.
func (c *configuration) set(name string, body []byte) (err error) {
	var initErr error
	switch name {
	case "ResourceQuota":
		c.quota, err = resourcequota.Configure(body, c.release.Minor())
	case "PodSecurity":
		c.podSecurity, initErr, err = podsecurity.Configure(body, c.release.Minor())
	case "PodNodeSelector":
		c.podSelector = podnodeselector.Configure(body)
	case "PodTolerationRestriction":
		c.tolerations, err = podtolerationrestriction.Configure(body, c.release)
	case "EventRateLimit":
		c.eventLimits, err = eventratelimit.Configure(body, c.release.Minor())
	case "ImagePolicyWebhook":
		c.images, err = imagepolicywebhook.Configure(body, c.release.Minor())
	case "MutatingAdmissionWebhook", "ValidatingAdmissionWebhook":
		initErr, err = c.setWebhooks(name, body)
	case "MutatingAdmissionPolicy", "ValidatingAdmissionPolicy":
		initErr, err = c.setPolicies(name, body)
	}
	switch {
	case err != nil:
		return fmt.Errorf("couldn't init admission plugin %q: %w", name, err)
	case initErr != nil:
		return fmt.Errorf("failed to initialize admission plugin %q: %w", name, initErr)
	}
	return nil
}

// setWebhooks sets the credentials for the webhooks of a plugin, and its folder.
func (c *configuration) setWebhooks(name string, body []byte) (initErr, err error) {
	var config struct {
		KubeConfigFile     string `json:"kubeConfigFile"`
		StaticManifestsDir string `json:"staticManifestsDir"`
	}
	kinds := webhookKinds
	if c.release.Has(behavior.WebhookAdmissionV1) {
		kinds = kinds[:1]
	}
	if c.release.Has(behavior.StaticManifests) {
		err = configfile.DecodeAny(body, kinds, c.release.Minor(), &config)
	} else {
		var older struct {
			KubeConfigFile string `json:"kubeConfigFile"`
		}
		err = configfile.DecodeAny(body, kinds, c.release.Minor(), &older)
		config.KubeConfigFile = older.KubeConfigFile
	}
	if err != nil {
		return nil, err
	}
	if file := config.KubeConfigFile; file != "" && !filepath.IsAbs(file) {
		return nil, validation.Invalid(validation.NewPath("kubeConfigFile"), file, "must be an absolute file path")
	}
	if err := manifest.CheckDir(config.StaticManifestsDir, c.release); err != nil {
		return nil, err
	}
	if err := c.setCredentials(name, config.KubeConfigFile); err != nil {
		return nil, err
	}
	return c.loadManifests(name, config.StaticManifestsDir), nil
}

func (c *configuration) setCredentials(name, file string) error {
	if file == "" {
		return nil
	}
	if _, err := os.Stat(file); err != nil {
		return err
	}
	users, err := kubeconfig.LoadUsers(file, c.release.Minor())
	if err != nil {
		return err
	}
	if c.credentials == nil {
		c.credentials = map[string]*kubeconfig.Users{}
	}
	c.credentials[name] = users
	return nil
}

// setPolicies sets the folder of a plugin of policies. Releases without folders ignore the
// configuration.
func (c *configuration) setPolicies(name string, body []byte) (initErr, err error) {
	if !c.release.Has(behavior.StaticManifests) {
		return nil, nil
	}
	var config struct {
		Kind               string `json:"kind"`
		StaticManifestsDir string `json:"staticManifestsDir"`
	}
	if err := configfile.DecodeAny(body, policyKinds, c.release.Minor(), &config); err != nil {
		return nil, err
	}
	if config.Kind != name+"Configuration" {
		return nil, fmt.Errorf("unexpected type: *policyconfig.%s", config.Kind)
	}
	if err := manifest.CheckDir(config.StaticManifestsDir, c.release); err != nil {
		return nil, err
	}
	return c.loadManifests(name, config.StaticManifestsDir), nil
}

// loadManifests reads the folder of a plugin, "" for none.
func (c *configuration) loadManifests(name, dir string) error {
	if dir == "" {
		return nil
	}
	source := manifest.Source{Plugin: name, Dir: dir, Types: c.types, Release: c.release}
	set, err := source.Load()
	if err != nil {
		return fmt.Errorf("failed to load static %s manifests from %q: %w", source.What(), dir, err)
	}
	c.manifests = append(c.manifests, Manifests{source, set})
	return nil
}

// configured returns a plugin with its configuration.
func (c *configuration) configured(p admission.Plugin) admission.Plugin {
	switch p.Name() {
	case c.podSecurity.Name():
		return c.podSecurity
	case c.podSelector.Name():
		return c.podSelector
	case c.tolerations.Name():
		return c.tolerations
	case c.defaultTolerations.Name():
		return c.defaultTolerations
	case c.eventLimits.Name():
		if c.eventLimits != nil {
			return c.eventLimits
		}
	case c.images.Name():
		if c.images != nil {
			return c.images
		}
	}
	return p
}
