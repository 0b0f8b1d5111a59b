package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubefake/kubefake/internal/audit"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/webhook"
)

// auditFlags are the flags of the audit log and of the audit webhook.
type auditFlags struct {
	policy       string
	log, webhook auditBackend

	path, format    string
	maxSize, maxAge int // in MB and in days
	maxBackups      int
	compress        bool
	logBatches      auditBatches // without effect

	kubeconfig string
	send       audit.WebhookConfig
	throttle   bool
	qps        float32
}

// An auditBackend holds the flags that both backends have.
type auditBackend struct {
	name         string
	mode         string
	version      string
	truncate     bool
	maxEventSize int64 // in bytes, as is maxBatchSize
	maxBatchSize int64
}

// define defines the flags of the backend.
func (b *auditBackend) define(fs *pflag.FlagSet, name, mode, effect string) {
	b.name = name
	prefix := "audit-" + name + "-"
	fs.StringVar(&b.mode, prefix+"mode", mode, "batch, blocking or blocking-strict; "+effect)
	fs.StringVar(&b.version, prefix+"version", "audit.k8s.io/v1", "the version of events: audit.k8s.io/v1")
	fs.BoolVar(&b.truncate, prefix+"truncate-enabled", false, "omit the objects of large events, and events that are still too large")
	fs.Int64Var(&b.maxEventSize, prefix+"truncate-max-event-size", 100<<10, "truncate events of more bytes")
	fs.Int64Var(&b.maxBatchSize, prefix+"truncate-max-batch-size", 10<<20, "not less than the size of events, which are truncated one by one")
}

// usualAuditSize is the default of --audit-log-maxsize, in megabytes. Releases without
// [behavior.AuditLogRotation] rotate at it with 0 too.
const usualAuditSize = 100

// define defines the flags of a minor release.
func (a *auditFlags) define(fs *pflag.FlagSet, minor int) {
	fs.StringVar(&a.policy, "audit-policy-file", "", "log the requests that this policy selects")
	a.log.define(fs, "log", "blocking", "each event is written before the answer ends, and blocking-strict fails a request whose event is lost")
	a.webhook.define(fs, "webhook", "batch", "blocking sends each event before the answer ends, and blocking-strict fails a request whose event is lost")

	fs.StringVar(&a.path, "audit-log-path", "", "append the audit log to this file; - is the standard output")
	fs.StringVar(&a.format, "audit-log-format", "json", "the format of the audit log: json")
	size, age, backups := 0, 0, 0
	if behavior.AuditLogRotation.In(minor) {
		size, age, backups = usualAuditSize, 366, 100
	}
	fs.IntVar(&a.maxSize, "audit-log-maxsize", size, "begin a new file of the audit log at this size in megabytes")
	fs.IntVar(&a.maxAge, "audit-log-maxage", age, "remove old files of the audit log after this many days; 0 keeps them")
	fs.IntVar(&a.maxBackups, "audit-log-maxbackup", backups, "keep this many old files of the audit log; 0 keeps all")
	fs.BoolVar(&a.compress, "audit-log-compress", false, "compress old files of the audit log with gzip")

	fs.IntVar(&a.logBatches.bufferSize, "audit-log-batch-buffer-size", 10000, "")
	fs.IntVar(&a.logBatches.maxSize, "audit-log-batch-max-size", 1, "")
	fs.BoolVar(&a.logBatches.throttle, "audit-log-batch-throttle-enable", false, "")
	fs.Float32Var(&a.logBatches.qps, "audit-log-batch-throttle-qps", 0, "")
	fs.IntVar(&a.logBatches.burst, "audit-log-batch-throttle-burst", 0, "")

	fs.StringVar(&a.kubeconfig, "audit-webhook-config-file", "", "send audit events to the webhook in this kubeconfig file")
	fs.DurationVar(&a.send.InitialBackoff, "audit-webhook-initial-backoff", 10*time.Second, "wait this long before a second attempt to send events")
	fs.DurationVar(&a.send.InitialBackoff, "audit-webhook-batch-initial-backoff", 10*time.Second, "the deprecated form of --audit-webhook-initial-backoff")
	fs.IntVar(&a.send.BufferSize, "audit-webhook-batch-buffer-size", 10000, "keep this many events until they are sent; further ones are lost")
	fs.IntVar(&a.send.MaxBatchSize, "audit-webhook-batch-max-size", 400, "send a batch of this many events at once")
	fs.DurationVar(&a.send.MaxBatchWait, "audit-webhook-batch-max-wait", 30*time.Second, "send a smaller batch after this time")
	fs.BoolVar(&a.throttle, "audit-webhook-batch-throttle-enable", true, "limit the batches in a second")
	fs.Float32Var(&a.qps, "audit-webhook-batch-throttle-qps", 10, "send this many batches in a second")
	fs.IntVar(&a.send.Burst, "audit-webhook-batch-throttle-burst", 15, "send this many batches at once before the limit applies")
}

// validate returns what is wrong with the flags, in the words of kube-apiserver.
func (a *auditFlags) validate() (errs []error) {
	if a.path != "" {
		errs = append(errs, a.log.validate(a.logBatches.validate)...)
		switch a.format {
		case "json":
		case "legacy":
			errs = append(errs, errors.New("--audit-log-format: fakeapi has no legacy format"))
		default:
			errs = append(errs, fmt.Errorf("invalid audit log format %s, allowed formats are %q", a.format, "legacy,json"))
		}
		for _, limit := range []struct {
			flag  string
			value int
		}{{"maxage", a.maxAge}, {"maxbackup", a.maxBackups}, {"maxsize", a.maxSize}} {
			if limit.value < 0 {
				errs = append(errs, fmt.Errorf("--audit-log-%s %d can't be a negative number", limit.flag, limit.value))
			}
		}
	}
	if a.kubeconfig != "" {
		batches := auditBatches{a.send.BufferSize, a.send.MaxBatchSize, a.throttle, a.qps, a.send.Burst}
		errs = append(errs, a.webhook.validate(batches.validate)...)
	}
	return errs
}

// validate returns what is wrong with the flags of the backend. batches validates those of
// batches.
func (b *auditBackend) validate(batches func(backend string) error) (errs []error) {
	if modes := []string{"batch", "blocking", "blocking-strict"}; !slices.Contains(modes, b.mode) {
		errs = append(errs, fmt.Errorf("invalid audit %s mode %s, allowed modes are %q", b.name, b.mode, strings.Join(modes, ",")))
	} else if b.mode == "batch" {
		if err := batches(b.name); err != nil {
			errs = append(errs, err)
		}
	}
	if b.maxEventSize <= 0 {
		errs = append(errs, fmt.Errorf("invalid audit truncate %s max event size %d, must be a positive number", b.name, b.maxEventSize))
	} else if b.maxBatchSize < b.maxEventSize {
		errs = append(errs, fmt.Errorf("invalid audit truncate %s max batch size %d, must be greater than max event size (%d)", b.name, b.maxBatchSize, b.maxEventSize))
	}
	if b.version != "audit.k8s.io/v1" {
		errs = append(errs, fmt.Errorf("invalid group version, allowed versions are %q", []string{"audit.k8s.io/v1"}))
	}
	return errs
}

// backend returns the backend, which writes to w.
func (b *auditBackend) backend(w io.Writer) audit.Backend {
	out := audit.Backend{Plugin: b.name, Writer: w, Strict: b.mode == "blocking-strict"}
	if b.truncate {
		out.MaxEvent = b.maxEventSize
	}
	return out
}

// auditBatches are the flags of the batches of a backend.
type auditBatches struct {
	bufferSize, maxSize int
	throttle            bool
	qps                 float32
	burst               int
}

// validate returns what is wrong with the flags of a backend.
func (b auditBatches) validate(backend string) error {
	for _, flag := range []struct {
		name   string
		value  any
		wrong  bool
		absent bool
	}{
		{"buffer size", b.bufferSize, b.bufferSize <= 0, false},
		{"max batch size", b.maxSize, b.maxSize <= 0, false},
		{"throttle QPS", b.qps, b.qps <= 0, !b.throttle},
		{"throttle burst", b.burst, b.burst <= 0, !b.throttle},
	} {
		if flag.wrong && !flag.absent {
			return fmt.Errorf("invalid audit batch %s %s %v, must be a positive number", backend, flag.name, flag.value)
		}
	}
	return nil
}

// open returns the policy, and the writer of the file of --audit-log-path and of the
// webhook. The writer is nil without a policy and without both of them. Events that are
// lost are reported to stderr.
func (a *auditFlags) open(ctx context.Context, minor int, stdout, stderr io.Writer) (policy string, log io.WriteCloser, err error) {
	if a.policy == "" {
		return "", nil, nil
	}
	text, err := inputfile.Read(a.policy)
	if err != nil {
		return "", nil, fmt.Errorf("loading audit policy file: failed to read file path %q: %w", a.policy, err)
	}
	if _, err := audit.ParsePolicy(text, minor); err != nil {
		return "", nil, fmt.Errorf("loading audit policy file: %w: from file %s", err, a.policy)
	}
	if a.path == "" && a.kubeconfig == "" {
		return "", nil, nil
	}
	backends := &audit.Backends{Report: func(plugin string, events int, err error) {
		fmt.Fprintf(stderr, "E%s kube-apiserver: Error in audit plugin '%s' affecting %d audit events: %v\n", time.Now().Format(logTime), plugin, events, err)
	}}
	switch {
	case a.path == "":
	case a.path == "-":
		backends.Add(a.log.backend(struct{ io.Writer }{stdout})) // which is not closed
	default:
		file, err := a.openFile(minor)
		if err != nil {
			return "", nil, fmt.Errorf("ensureLogFile: %w", err)
		}
		backends.Add(a.log.backend(file))
	}
	if a.kubeconfig != "" {
		cluster, err := kubeconfig.LoadClient(ctx, a.kubeconfig, minor)
		if err != nil {
			return "", nil, errors.Join(fmt.Errorf("initializing audit webhook: %w", err), backends.Close())
		}
		base, err := url.Parse(cluster.URL)
		if err != nil {
			return "", nil, errors.Join(fmt.Errorf("initializing audit webhook: %w", err), backends.Close())
		}
		a.send.URL, a.send.Transport = webhook.RESTURL(base).String(), cluster.Transport
		a.send.Blocking = a.webhook.mode != "batch"
		a.send.Report = func(events int, err error) { backends.Lost(a.webhook.name, events, err) }
		if a.throttle {
			a.send.QPS = float64(a.qps)
		}
		backends.Add(a.webhook.backend(audit.NewWebhook(a.send)))
	}
	return string(text), backends, nil
}

// openFile opens the file of --audit-log-path.
func (a *auditFlags) openFile(minor int) (*audit.File, error) {
	const day, megabyte = 24 * time.Hour, 1 << 20
	size := a.maxSize
	if !behavior.AuditLogRotation.In(minor) {
		size = cmp.Or(size, usualAuditSize)
	}
	return audit.OpenFile(a.path, audit.Rotation{
		MaxSize: int64(size) * megabyte, MaxBackups: a.maxBackups, MaxAge: time.Duration(a.maxAge) * day,
		Compress: a.compress, Now: time.Now,
	})
}
