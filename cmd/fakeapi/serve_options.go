package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/fakeapi/clusters"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/profile"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/status"
)

// options returns the server options for the flags.
func (c *serveCommand) options() ([]fakeapi.Option, error) {
	if err := c.checkRelease(); err != nil {
		return nil, &usageError{err}
	}
	if err := checkListen(c.listen); err != nil {
		return nil, err
	}
	if err := c.checkValues(); err != nil {
		return nil, &usageError{err}
	}
	gates, _ := c.gates() // checkRelease has checked them
	options := []fakeapi.Option{
		fakeapi.WithAddress(c.listen),
		fakeapi.WithAPIServer(apiserver.Config{
			AllowedHosts:            c.allowedHosts,
			RuntimeConfig:           c.runtimeConfig,
			FeatureGates:            gates,
			EnableAdmissionPlugins:  c.enablePlugins,
			DisableAdmissionPlugins: c.disablePlugins,
			ServiceClusterIPRanges:  c.serviceRanges,
			ServiceNodePortRange:    c.nodePorts,
			CORSAllowedOrigins:      c.allowedOrigins,
			EventTTL:                c.eventTTL,
			CompactionInterval:      c.compactEvery,
			CompactionKeep:          c.compactKeep,
		}),
		fakeapi.WithSeed(c.seed),
		fakeapi.WithHistory(fakeapi.History{Age: c.history, Bytes: c.historyBytes}),
		fakeapi.WithPace(c.pace),
		fakeapi.WithControllers(c.controllers...),
	}
	for _, name := range c.clusters {
		options = append(options, clusters.With(name))
	}
	if c.profile != "" {
		options = append(options, fakeapi.WithProfileFile(c.profile))
	}
	if c.profile == "" || c.releaseName != release.Default {
		options = append(options, fakeapi.WithRelease(c.releaseName))
	}
	if !c.clock.IsZero() {
		options = append(options, fakeapi.WithManualClock(c.clock))
	}
	if c.tls {
		options = append(options, fakeapi.WithTLS(), fakeapi.WithAPIServer(apiserver.Config{CertDir: c.certDir}))
	}
	authorization, err := c.authz.options()
	if err != nil {
		return nil, err
	}
	options = append(options, authorization...)
	if !c.control {
		options = append(options, fakeapi.WithoutControl())
	}
	if c.showSecrets {
		options = append(options, fakeapi.WithSecretsShown())
	}
	if c.chaos != 0 {
		options = append(options, fakeapi.WithFaults(faults.Chaos(c.chaos)...))
	}
	if c.tokens != "" {
		users, err := readTokens(c.tokens)
		if err != nil {
			return nil, err
		}
		options = append(options, users...)
	}
	served, _ := release.Open(c.releaseName) // checkRelease has checked it
	authentication, err := c.authentication(served.Minor())
	if err != nil {
		return nil, err
	}
	options = append(options, authentication...)
	files, err := c.files()
	if err != nil {
		return nil, err
	}
	options = append(options, files...)
	if c.createNamespaces {
		options = append(options, fakeapi.WithNamespaces())
	}
	for service, addr := range c.services {
		namespace, name, _ := strings.Cut(service, "/")
		options = append(options, fakeapi.WithWebhookService(namespace, name, addr))
	}
	for name, file := range c.processes {
		options = append(options, fakeapi.WithProcess(name, func(s os.Signal) error { return signalProcess(file, s) }))
	}
	return options, nil
}

// checkValues checks the values of flags, and whether those that belong together are there.
func (c *serveCommand) checkValues() error {
	switch {
	case c.replicas < 1 || c.replicas > maxReplicas:
		return fmt.Errorf("--replicas must be from 1 to %d", maxReplicas)
	case c.replicas > 1 && c.clusters != nil:
		return errors.New("--replicas and --clusters exclude each other")
	case c.history <= 0:
		return errors.New("--history must be positive")
	case c.eventTTL <= 0:
		return errors.New("--event-ttl must be positive")
	case c.pace < 0:
		return errors.New("--pace must not be negative")
	case c.compactEvery < 0 || c.compactKeep < 0:
		return errors.New("--compact-every and --compact-keep must not be negative")
	case !(c.speed > 0): // NaN, too
		return errors.New("--speed must be positive")
	case c.certDir != "" && !c.tls:
		return errors.New("--cert-dir needs --tls")
	case c.compactKeep != 0 && c.compactEvery == 0:
		return errors.New("--compact-keep needs --compact-every")
	case c.speed != 1 && c.reenact == "":
		return errors.New("--speed needs --reenact")
	case c.createNamespaces && c.objects == nil:
		return errors.New("--create-namespaces needs --objects")
	}
	if errs := c.authz.validate(); len(errs) > 0 {
		return errors.New(status.Aggregate(errs))
	}
	return nil
}

// checkRelease returns an error for an unknown release, and for a --runtime-config,
// --feature-gates and admission plugins that it cannot have.
func (c *serveCommand) checkRelease() error {
	r, err := release.Open(c.releaseName)
	if err != nil {
		return fmt.Errorf("--release: %w", err)
	}
	if _, err := r.Select(c.runtimeConfig); err != nil {
		return fmt.Errorf("--runtime-config: %w", err)
	}
	if _, err := c.gates(); err != nil {
		return fmt.Errorf("--feature-gates: %w", err)
	}
	if c.profile != "" && c.releaseName == release.Default {
		if r = profileRelease(c.profile); r == nil {
			return nil // the start of the server reports the error of the profile
		}
	}
	if errs := (plugin.Selection{Enable: c.enablePlugins, Disable: c.disablePlugins}).Check(r.Minor()); len(errs) > 0 {
		return errors.New(strings.NewReplacer("enable-admission-", "--enable-admission-", "disable-admission-", "--disable-admission-").Replace(status.Aggregate(errs)))
	}
	return nil
}

// profileRelease returns the release of a profile, nil if the file cannot be read.
func profileRelease(file string) *release.Release {
	text, err := inputfile.Read(file)
	if err != nil {
		return nil
	}
	p, err := profile.Parse(text)
	if err != nil {
		return nil
	}
	r, err := release.Open(p.Release)
	if err != nil {
		return nil
	}
	return r
}

// gates returns the feature gates of --feature-gates, or an error if the release cannot
// have them.
func (c *serveCommand) gates() (map[string]bool, error) {
	set, err := release.ParseGates(c.featureGates)
	if err != nil {
		return nil, err
	}
	r, err := release.Open(c.releaseName)
	if err != nil {
		return nil, err
	}
	_, err = r.WithGates(set)
	return set, err
}

// addRuntimeConfig adds the keys of a value of --runtime-config.
func (c *serveCommand) addRuntimeConfig(value string) error {
	pairs := map[string]string{}
	for _, part := range strings.Split(value, ",") {
		if key, text, _ := strings.Cut(strings.TrimSpace(part), "="); key != "" {
			pairs[key] = text
		}
	}
	return c.setRuntimeConfig(pairs)
}

// setRuntimeConfig adds keys of --runtime-config with their values. A key without a value is true.
func (c *serveCommand) setRuntimeConfig(pairs map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		text := pairs[key]
		on, err := strconv.ParseBool(text)
		// api/v1 is another name of v1, and api/legacy has no effect.
		isCore := slices.Contains([]string{"v1", "api/v1"}, key) || strings.HasPrefix(key, "v1/") || strings.HasPrefix(key, "api/v1/")
		isStage := strings.HasPrefix(key, "api/") && !isCore && key != "api/legacy"
		switch {
		case isStage && text != "true" && text != "false":
			return fmt.Errorf("invalid value %s=%s", key, text)
		case text == "" || key == "api/legacy":
			on = true
		case err != nil && isCore:
			return fmt.Errorf("invalid value of /v1: %s, err: %w", text, err)
		case err != nil:
			return fmt.Errorf("invalid value of %s: %s, err: %w", key, text, err)
		}
		c.runtimeConfig[key] = on
	}
	return nil
}

// files returns the server options for the flags that name files of several objects.
func (c *serveCommand) files() (options []fakeapi.Option, err error) {
	flags := []struct {
		values []string
		with   func(fs.FS, ...string) (fakeapi.Option, error)
		names  []string
	}{
		{values: c.crds, with: withFiles(fakeapi.WithCRDs)}, {values: c.objects, with: withFiles(fakeapi.WithObjectFiles)},
		{values: c.faults, with: withFaultFiles}, {values: c.stages, with: withFiles(fakeapi.WithStages)},
	}
	stdin := 0
	for i := range flags {
		if flags[i].names, err = inputNames(flags[i].values); err != nil {
			return nil, err
		}
		if slices.Contains(flags[i].names, stdinName) {
			stdin++
		}
	}
	if stdin > 1 {
		return nil, &usageError{errors.New("only one flag can read the standard input")}
	}
	for _, f := range flags {
		option, err := f.with(c.inputs, f.names...)
		if err != nil {
			return nil, err
		}
		options = append(options, option)
	}
	return options, nil
}

// withFiles returns a function that returns an option for files, which the server reads.
func withFiles(with func(fs.FS, ...string) fakeapi.Option) func(fs.FS, ...string) (fakeapi.Option, error) {
	return func(fsys fs.FS, globs ...string) (fakeapi.Option, error) { return with(fsys, globs...), nil }
}

// withFaultFiles returns the option for the faults of files.
func withFaultFiles(fsys fs.FS, globs ...string) (fakeapi.Option, error) {
	list, err := faults.ParseFiles(fsys, globs...)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	return fakeapi.WithFaults(list...), nil
}
