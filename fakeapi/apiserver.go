package fakeapi

import (
	"cmp"
	"maps"

	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/allocator"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/cluster"
)

// WithAPIServer applies settings that a kube-apiserver has as flags. Several of these options
// add up: of two values for one setting the last one applies, and lists and maps are joined.
func WithAPIServer(a apiserver.Config) Option {
	return newOption("WithAPIServer", func(c *config) {
		c.applyAPI(&a)
		c.applyAccess(&a)
		c.applyLimits(&a)
	}, a)
}

// applyAPI applies the settings of what is served and admitted.
func (c *config) applyAPI(a *apiserver.Config) {
	maps.Copy(c.runtimeConfig, a.RuntimeConfig)
	if c.server.FeatureGates == nil {
		c.server.FeatureGates = map[string]bool{}
	}
	maps.Copy(c.server.FeatureGates, a.FeatureGates)
	plugins := &c.server.Plugins
	plugins.Enable = append(plugins.Enable, a.EnableAdmissionPlugins...)
	plugins.Disable = append(plugins.Disable, a.DisableAdmissionPlugins...)
	plugins.ConfigFile = cmp.Or(a.AdmissionControlConfigFile, plugins.ConfigFile)
	if a.ServiceClusterIPRanges != nil {
		c.server.ServiceRanges = a.ServiceClusterIPRanges
	}
	c.server.NodePorts = cmp.Or(allocator.PortRange(a.ServiceNodePortRange), c.server.NodePorts)
	c.server.AdvertiseAddress = cmp.Or(a.AdvertiseAddress, c.server.AdvertiseAddress)
	plugins.NotReadySeconds = cmp.Or(a.DefaultNotReadyTolerationSeconds, plugins.NotReadySeconds)
	plugins.UnreachableSeconds = cmp.Or(a.DefaultUnreachableTolerationSeconds, plugins.UnreachableSeconds)
	c.server.WithoutPrivileged = c.server.WithoutPrivileged || a.NoPrivilegedContainers
	if a.Flags != nil {
		c.server.Flags = maps.Clone(a.Flags)
	}
}

// applyAccess applies the settings of who may connect and do what.
func (c *config) applyAccess(a *apiserver.Config) {
	c.authentication = cmp.Or(a.Authentication, c.authentication)
	c.authorization = cmp.Or(a.Authorization, c.authorization)
	if a.ClientCA != nil {
		c.http.TLS = true
		c.clientCAs = append(c.clientCAs, a.ClientCA)
		c.server.Auth.Unauthenticated = authn.AsAnonymous
	}
	if a.Certificate != nil || a.Key != nil {
		c.http.TLS = true
		c.http.Certificate, c.http.Key = a.Certificate, a.Key
	}
	c.http.CertDir = cmp.Or(a.CertDir, c.http.CertDir)
	c.http.MinVersion = cmp.Or(a.TLSMinVersion, c.http.MinVersion)
	if a.TLSCipherSuites != nil {
		c.http.CipherSuites = a.TLSCipherSuites
	}
	if f := a.Files; f != nil {
		c.watched = f
		c.http.TLS = c.http.TLS || f.Certificate != "" || f.ClientCA != ""
		if f.ClientCA != "" {
			c.server.Auth.Unauthenticated = authn.AsAnonymous
		}
	}
	c.server.Hosts = append(c.server.Hosts, a.AllowedHosts...)
	c.allowedOrigins = append(c.allowedOrigins, a.CORSAllowedOrigins...)
	if a.StrictTransportSecurity != nil {
		c.transportSecurity = a.StrictTransportSecurity
	}
}

// applyLimits applies the settings of how much and how long, and the audit log.
func (c *config) applyLimits(a *apiserver.Config) {
	c.server.MaxReads = cmp.Or(a.MaxRequestsInflight, c.server.MaxReads)
	c.server.MaxWrites = cmp.Or(a.MaxMutatingRequestsInflight, c.server.MaxWrites)
	c.server.RequestTimeout = cmp.Or(a.RequestTimeout, c.server.RequestTimeout)
	c.server.MinWatchTimeout = cmp.Or(a.MinRequestTimeout, c.server.MinWatchTimeout)
	c.server.EventTTL = cmp.Or(a.EventTTL, c.server.EventTTL)
	c.server.Compaction = cmp.Or(cluster.Compaction{Every: a.CompactionInterval, Keep: a.CompactionKeep}, c.server.Compaction)
	if a.MetricLabels != nil {
		c.server.MetricLabels = a.MetricLabels
	}
	if a.AuditLog != nil {
		c.auditPolicy, c.auditWriter = a.AuditPolicy, a.AuditLog
	}
}
