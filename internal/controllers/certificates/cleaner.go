package certificates

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

const (
	// period is the time between two looks at all requests.
	period = time.Hour

	// A request is deleted when it has been decided, or pending, for a time.
	decidedExpiration = time.Hour
	pendingExpiration = 24 * time.Hour
)

type cleaner struct {
	env      *controller.Env
	client   *controller.Client
	requests *controller.Informer
	queue    *controller.Queue // the one key is the zero Key
	start    time.Time         // of the first period
}

// StartCleaner starts the certificatesigningrequest-cleaner-controller. It looks at the
// requests every hour, as long as there are any.
func StartCleaner(e *controller.Env) {
	c := &cleaner{env: e, client: e.Client(account), start: e.Now()}
	c.queue = e.Queue(c.clean)
	c.requests = e.Informer(controller.CertificateSigningRequests, func(old, _ *controller.Object) {
		switch {
		case old != nil:
		case e.Now().Equal(c.start):
			c.queue.Add(controller.Key{})
		default:
			c.schedule()
		}
	})
}

// schedule queues a look at the requests for the next period.
func (c *cleaner) schedule() {
	c.queue.AddAfter(controller.Key{}, period-c.env.Now().Sub(c.start)%period)
}

// clean deletes the requests that have expired.
func (c *cleaner) clean(controller.Key) error {
	requests := c.requests.List("", selector.Labels{})
	for _, csr := range requests {
		if c.expired(csr.View()) {
			_ = c.client.Delete(controller.CertificateSigningRequests, "", csr.Name, controller.DeleteOptions{}) // the next period repeats it
		}
	}
	if len(requests) > 0 {
		c.schedule()
	}
	return nil
}

func (c *cleaner) expired(csr object.View) bool {
	older := func(t time.Time, d time.Duration) bool { return !t.IsZero() && c.env.Now().Sub(t) > d }
	conditions := csr.At("status", "conditions")
	if conditions.Len() == 0 {
		return older(controller.Time(csr, "metadata", "creationTimestamp"), pendingExpiration)
	}
	certificate := csr.String("status", "certificate")
	for condition := range conditions.Objects() {
		at := controller.Time(condition, "lastUpdateTime")
		switch {
		case condition.String("type") == "Approved" && certificate == "":
			if older(at, pendingExpiration) {
				return true
			}
		case condition.String("type") == "Approved":
			if older(at, decidedExpiration) || c.certificateExpired(certificate) {
				return true
			}
		case condition.String("type") == "Denied", condition.String("type") == "Failed":
			if older(at, decidedExpiration) {
				return true
			}
		}
	}
	return false
}

// certificateExpired reports whether a certificate, in base64, is not valid any more.
func (c *cleaner) certificateExpired(text string) bool {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return false
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return false
	}
	certs, err := x509.ParseCertificates(block.Bytes)
	return err == nil && len(certs) > 0 && c.env.Now().After(certs[0].NotAfter)
}
