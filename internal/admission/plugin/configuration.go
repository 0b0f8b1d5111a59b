package plugin

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/admission/plugin/podsecurity"
	"github.com/kubefake/kubefake/internal/admission/plugin/resourcequota"
	"github.com/kubefake/kubefake/internal/configfile"
	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/validation"
)

// A configuration is what an AdmissionConfiguration says of the plugins that have one. The
// zero value is the default.
//
// See https://kubernetes.io/docs/reference/config-api/apiserver-config.v1/#apiserver-config-k8s-io-v1-AdmissionConfiguration.
type configuration struct {
	quota       resourcequota.Plugin
	podSecurity podsecurity.Plugin
	// credentials are those for the webhooks of a plugin, by its name.
	credentials map[string]*kubeconfig.Users
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

// An admissionConfiguration is the file.
type admissionConfiguration struct {
	Plugins []struct {
		Name          string          `json:"name"`
		Path          string          `json:"path"`
		Configuration json.RawMessage `json:"configuration"`
	} `json:"plugins"`
}

// readConfiguration reads an AdmissionConfiguration and what it has for enabled plugins. The
// errors are those of kube-apiserver. Plugins without a configuration here ignore theirs.
func readConfiguration(file string, enabled func(name string) bool) (c configuration, err error) {
	var all admissionConfiguration
	text, err := os.ReadFile(file)
	if err != nil {
		return c, fmt.Errorf("failed to apply admission: failed to read plugin config: unable to read admission control configuration from %q [%w]", file, err)
	}
	if err := configfile.DecodeAny(text, admissionKinds, &all); err != nil {
		return c, fmt.Errorf("failed to apply admission: failed to read plugin config: %w", err)
	}
	given := map[string][]byte{}
	for _, p := range all.Plugins {
		if _, again := given[p.Name]; again || !enabled(p.Name) {
			continue
		}
		body := []byte(p.Configuration)
		if len(body) == 0 && p.Path != "" {
			if !filepath.IsAbs(p.Path) {
				p.Path = filepath.Join(filepath.Dir(file), p.Path)
			}
			if body, err = os.ReadFile(p.Path); err != nil {
				return c, fmt.Errorf("Couldn't open admission plugin configuration %s: %w", p.Path, err)
			}
		}
		given[p.Name] = body
	}
	for _, p := range allPlugins {
		if body := given[p.name]; len(body) > 0 {
			if err := c.set(p.name, body); err != nil {
				return c, fmt.Errorf("failed to apply admission: %w", err)
			}
		}
	}
	return c, nil
}

// set sets the configuration of a plugin.
func (c *configuration) set(name string, body []byte) (err error) {
	var initErr error
	switch name {
	case "ResourceQuota":
		c.quota, err = resourcequota.Configure(body)
	case "PodSecurity":
		c.podSecurity, initErr, err = podsecurity.Configure(body)
	case "MutatingAdmissionWebhook", "ValidatingAdmissionWebhook":
		err = c.setCredentials(name, body)
	}
	switch {
	case err != nil:
		return fmt.Errorf("couldn't init admission plugin %q: %w", name, err)
	case initErr != nil:
		return fmt.Errorf("failed to initialize admission plugin %q: %w", name, initErr)
	}
	return nil
}

func (c *configuration) setCredentials(name string, body []byte) error {
	var config struct {
		KubeConfigFile string `json:"kubeConfigFile"`
	}
	if err := configfile.DecodeAny(body, webhookKinds, &config); err != nil {
		return err
	}
	switch {
	case config.KubeConfigFile == "":
		return nil
	case !filepath.IsAbs(config.KubeConfigFile):
		return validation.Invalid(validation.NewPath("kubeConfigFile"), config.KubeConfigFile, "must be an absolute file path")
	}
	if _, err := os.Stat(config.KubeConfigFile); err != nil {
		return err
	}
	users, err := kubeconfig.LoadUsers(config.KubeConfigFile)
	if err != nil {
		return err
	}
	if c.credentials == nil {
		c.credentials = map[string]*kubeconfig.Users{}
	}
	c.credentials[name] = users
	return nil
}

// configured returns a plugin with its configuration.
func (c *configuration) configured(p admission.Plugin) admission.Plugin {
	if p.Name() == c.podSecurity.Name() {
		return c.podSecurity
	}
	return p
}
