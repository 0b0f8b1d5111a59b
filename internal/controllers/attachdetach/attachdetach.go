// Package attachdetach has the persistentvolume-attach-detach-controller: it creates the
// VolumeAttachments of the CSI volumes of Pods that have a Node, reports in the status of
// the Node which volumes are attached, and deletes the VolumeAttachments when no Pod of the
// Node uses the volume.
//
// See https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/volume-attachment-v1/.
package attachdetach

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/volume"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/selector"
)

const (
	outOfService = "node.kubernetes.io/out-of-service"

	attachTimeout  = 2 * time.Minute // for the attacher of a CSI driver
	unmountTimeout = 6 * time.Minute // until a volume is detached from a Node that is not ready

	minBackoff = 500 * time.Millisecond
	maxBackoff = 2*time.Minute + 2*time.Second

	byVolume = "attachdetach" // VolumeAttachments by their volumes
)

type attacher struct {
	env         *controller.Env
	client      *controller.Client
	events      *controller.Recorder
	pods        *controller.Informer
	nodes       *controller.Informer
	claims      *controller.Informer
	volumes     *controller.Informer
	drivers     *controller.Informer
	attachments *controller.Informer
	queue       *controller.Queue // its keys have the Node as the namespace and the volume as the name

	attached map[string]map[string]*attachment // by Nodes and volumes
	refused  map[controller.Key]string         // the UIDs of the last Pods that were told about an attachment elsewhere
}

// An attachment is a volume that is attached to a Node, or may be.
type attachment struct {
	id       string    // of the VolumeAttachment
	unique   string    // the name in the status of the Node
	reported bool      // an Event says that it is attached
	begun    time.Time // when the controller began to wait for the driver
	unused   time.Time // since when no Pod has used it
}

// Start starts the controller. VolumeAttachments that exist and that no Pod needs are
// deleted; those that others create later are not.
func Start(e *controller.Env) {
	c := &attacher{env: e, client: e.Client("attachdetach-controller"), attached: map[string]map[string]*attachment{}, refused: map[controller.Key]string{}}
	c.events = e.Recorder(c.client, "attachdetach-controller")
	c.queue = e.Queue(c.sync, controller.QueueOptions{MinBackoff: minBackoff, MaxBackoff: maxBackoff})
	e.Queue(c.adopt).Add(controller.Key{})
	c.drivers = e.Informer(controller.CSIDrivers)
	c.volumes = e.Informer(controller.PersistentVolumes)
	c.claims = e.Informer(controller.PersistentVolumeClaims, func(_, claim *controller.Object) {
		if claim != nil && volume.ClaimBound(claim.View()) {
			for _, pod := range c.pods.By(controller.ByClaim, claim.Key().String()) {
				c.enqueuePod(pod)
			}
		}
	})
	c.pods = e.PodsByClaim(func(old, pod *controller.Object) {
		if pod == nil {
			pod = old
		}
		c.enqueuePod(pod)
	})
	e.PodsByNode()
	c.nodes = e.Informer(controller.Nodes, func(old, node *controller.Object) {
		if old != nil {
			c.enqueueNode(old.Name)
		}
		if node != nil && managed(node) && (old == nil || !managed(old)) {
			for _, pod := range c.pods.By(controller.ByNode, node.Name) {
				c.enqueuePod(pod)
			}
		}
	})
	c.attachments = e.Informer(controller.VolumeAttachments, func(old, a *controller.Object) {
		if a == nil {
			a = old
			c.enqueueVolume(volumeOf(a))
		}
		c.queue.Add(controller.Key{Namespace: nodeOf(a), Name: volumeOf(a)})
	})
	c.attachments.Index(byVolume, func(a *controller.Object) []string { return []string{volumeOf(a)} })
}

func nodeOf(a *controller.Object) string { return a.View().String("spec", "nodeName") }

func volumeOf(a *controller.Object) string {
	return a.View().String("spec", "source", "persistentVolumeName")
}

// managed reports whether a Node leaves attaching to the controller.
func managed(node *controller.Object) bool {
	_, ok := volume.Annotation(node.View(), volume.ControllerManagedAttach)
	return ok
}

// enqueuePod queues the volumes of a Pod on its Node.
func (c *attacher) enqueuePod(pod *controller.Object) {
	node := pod.View().String("spec", "nodeName")
	if node == "" {
		return
	}
	claims := controller.PodClaims(pod)
	for _, k := range claims {
		if claim := c.claims.Get(k.Namespace, k.Name); claim != nil && volume.ClaimBound(claim.View()) {
			c.queue.Add(controller.Key{Namespace: node, Name: claim.View().String("spec", "volumeName")})
		}
	}
	if len(claims) > 0 { // a claim may be gone before its volume is detached
		c.enqueueNode(node)
	}
}

// enqueueNode queues what is attached to a Node.
func (c *attacher) enqueueNode(node string) {
	for _, name := range slices.Sorted(maps.Keys(c.attached[node])) {
		c.queue.Add(controller.Key{Namespace: node, Name: name})
	}
}

// enqueueVolume queues a volume on the Nodes of the Pods that use it.
func (c *attacher) enqueueVolume(name string) {
	if v := c.volumes.Get("", name); v != nil {
		for _, pod := range c.pods.By(controller.ByClaim, claimOf(v).String()) {
			c.enqueuePod(pod)
		}
	}
}

// claimOf returns the key of the claim that a volume is bound to.
func claimOf(v *controller.Object) controller.Key {
	ref := v.View().At("spec", "claimRef")
	return controller.Key{Namespace: ref.String("namespace"), Name: ref.String("name")}
}

// adopt takes over the VolumeAttachments that exist.
func (c *attacher) adopt(controller.Key) error {
	for _, a := range c.attachments.List("", selector.Labels{}) {
		v := c.volumes.Get("", volumeOf(a))
		if v == nil || v.View().IsNil("spec", "csi") {
			continue
		}
		e := c.entry(controller.Key{Namespace: nodeOf(a), Name: v.Name}, v)
		e.id = a.Name
		if node := c.nodes.Get("", nodeOf(a)); node != nil {
			e.reported = slices.Contains(volumesOf(node, "volumesAttached"), e.unique)
		}
	}
	return nil
}

// entry returns the attachment of a key, a new one if there is none.
func (c *attacher) entry(k controller.Key, v *controller.Object) *attachment {
	e := c.attached[k.Namespace][k.Name]
	if e == nil {
		driver, handle := v.View().String("spec", "csi", "driver"), v.View().String("spec", "csi", "volumeHandle")
		e = &attachment{
			id:     fmt.Sprintf("csi-%x", sha256.Sum256([]byte(handle+driver+k.Namespace))),
			unique: "kubernetes.io/csi/" + driver + "^" + handle,
		}
		if c.attached[k.Namespace] == nil {
			c.attached[k.Namespace] = map[string]*attachment{}
		}
		c.attached[k.Namespace][k.Name] = e
	}
	return e
}

// users returns the Pods that run on a Node and use a volume.
func (c *attacher) users(v *controller.Object, node string) (users []*controller.Object) {
	claim := c.claims.Get(claimOf(v).Namespace, claimOf(v).Name)
	if claim == nil || !volume.BoundTo(v.View(), claim.View()) || claim.View().String("spec", "volumeName") != v.Name {
		return nil
	}
	for _, pod := range c.pods.By(controller.ByClaim, claim.Key().String()) {
		if pod.View().String("spec", "nodeName") == node && !controller.PodTerminated(pod) {
			users = append(users, pod)
		}
	}
	return users
}

// attachable reports whether a volume has to be attached: it is one of a CSI driver that
// does not say otherwise.
func (c *attacher) attachable(v *controller.Object) bool {
	if v.View().IsNil("spec", "csi") {
		return false
	}
	driver := c.drivers.Get("", v.View().String("spec", "csi", "driver"))
	return driver == nil || !driver.View().At("spec", "attachRequired").EqualTo(false)
}

// sync attaches a volume to a Node, or detaches it.
func (c *attacher) sync(k controller.Key) error {
	node, v := c.nodes.Get("", k.Namespace), c.volumes.Get("", k.Name)
	if node != nil && managed(node) && v != nil && c.attachable(v) {
		if users := c.users(v, node.Name); len(users) > 0 {
			return c.attach(k, node, v, users)
		}
	}
	delete(c.refused, k)
	if e := c.attached[k.Namespace][k.Name]; e != nil {
		return c.detach(k, node, e)
	}
	return nil
}

func (c *attacher) attach(k controller.Key, node, v *controller.Object, users []*controller.Object) error {
	e := c.attached[k.Namespace][k.Name]
	if e == nil {
		if pods, elsewhere := c.elsewhere(v, node.Name); elsewhere && !sharable(v) {
			return c.refuse(k, v, users, pods)
		}
		delete(c.refused, k)
		e = c.entry(k, v)
	}
	e.unused = time.Time{}
	a := c.attachments.Get("", e.id)
	if a == nil {
		e.reported, e.begun = false, c.env.Now()
		_, err := c.client.Create(controller.VolumeAttachments, "", map[string]any{
			"metadata": map[string]any{"name": e.id},
			"spec": map[string]any{
				"attacher": v.View().String("spec", "csi", "driver"), "nodeName": node.Name,
				"source": map[string]any{"persistentVolumeName": v.Name},
			},
		})
		if err != nil && !controller.IsAlreadyExists(err) {
			return c.failed(v, users, fmt.Errorf("attacher.Attach failed: %w", err))
		}
		c.queue.AddAfter(k, attachTimeout)
		return nil
	}
	if a.Terminating {
		return c.failed(v, users, errors.New("volume attachment is being deleted"))
	}
	if !a.View().Bool("status", "attached") {
		if message := a.View().At("status", "attachError"); !message.IsNil() {
			return c.failed(v, users, errors.New(message.String("message")))
		}
		if wait := e.begun.Add(attachTimeout).Sub(c.env.Now()); !e.begun.IsZero() && wait > 0 {
			c.queue.AddAfter(k, wait)
			return nil
		}
		e.begun = c.env.Now()
		return c.failed(v, users, fmt.Errorf("timed out waiting for external-attacher of %s CSI driver to attach volume %s",
			a.View().String("spec", "attacher"), v.View().String("spec", "csi", "volumeHandle")))
	}
	if !e.reported {
		e.reported = true
		for _, pod := range users {
			c.events.Event(pod, controller.Normal, "SuccessfulAttachVolume", "AttachVolume.Attach succeeded for volume %q ", v.Name)
		}
	}
	return c.report(node, e.unique, true)
}

// failed reports that a volume cannot be attached. It returns err, so that it is tried again.
func (c *attacher) failed(v *controller.Object, users []*controller.Object, err error) error {
	for _, pod := range users {
		c.events.Event(pod, controller.Warning, "FailedAttachVolume", "AttachVolume.Attach failed for volume %q : %v", v.Name, err)
	}
	return err
}

// sharable reports whether a volume may be attached to several Nodes.
func sharable(v *controller.Object) bool {
	modes := v.View().Strings("spec", "accessModes")
	return len(modes) == 0 || slices.Contains(modes, "ReadWriteMany") || slices.Contains(modes, "ReadOnlyMany")
}

// elsewhere reports whether a volume is attached to another Node, and returns the Pods that
// use it there.
func (c *attacher) elsewhere(v *controller.Object, node string) (pods []*controller.Object, elsewhere bool) {
	for _, a := range c.attachments.By(byVolume, v.Name) {
		if other := nodeOf(a); other != node && c.attached[other][v.Name] != nil {
			pods, elsewhere = append(pods, c.users(v, other)...), true
		}
	}
	return pods, elsewhere
}

// refuse reports once that a volume is attached elsewhere. The deletion of that
// VolumeAttachment queues the key again.
func (c *attacher) refuse(k controller.Key, v *controller.Object, users, elsewhere []*controller.Object) error {
	problem, message := "Multi-Attach error", "Volume is already exclusively attached to one node and can't be attached to another"
	if c.env.Release().Has(behavior.WaitsForDetach) {
		problem, message = "Waiting for detach", "Volume is already exclusively attached to one node, waiting on detach before it can be attached to another node"
	}
	if len(elsewhere) > 0 { // of one namespace, that of the claim
		names := make([]string, len(elsewhere))
		for i, pod := range elsewhere {
			names[i] = pod.Name
		}
		message = "Volume is already used by pod(s) " + strings.Join(names, ", ")
	}
	for _, pod := range users {
		if c.refused[k] != pod.UID {
			c.refused[k] = pod.UID
			c.events.Event(pod, controller.Warning, "FailedAttachVolume", "%s for volume %q %s", problem, v.Name, message)
		}
	}
	return nil
}

// detach deletes the VolumeAttachment of a volume that no Pod of a Node uses, unless the
// Node says that it uses the volume. node is nil if there is none.
func (c *attacher) detach(k controller.Key, node *controller.Object, e *attachment) error {
	a := c.attachments.Get("", e.id)
	if node != nil && a != nil && slices.Contains(volumesOf(node, "volumesInUse"), e.unique) && !hasTaint(node, outOfService) {
		if e.unused.IsZero() {
			e.unused = c.env.Now()
		}
		wait := e.unused.Add(unmountTimeout).Sub(c.env.Now())
		if wait > 0 {
			c.queue.AddAfter(k, wait)
		}
		if wait > 0 || controller.HasCondition(node.View(), "Ready", "True") {
			return nil // a change of the Node queues the key again
		}
	}
	if node != nil {
		if err := c.report(node, e.unique, false); err != nil {
			return err
		}
	}
	switch {
	case a == nil:
		delete(c.attached[k.Namespace], k.Name)
		c.enqueueVolume(k.Name)
	case !a.Terminating:
		if err := c.client.Delete(controller.VolumeAttachments, "", a.Name, controller.DeleteOptions{}); err != nil && !controller.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// report writes in the status of a Node whether a volume is attached.
func (c *attacher) report(node *controller.Object, unique string, attached bool) error {
	names := volumesOf(node, "volumesAttached")
	if slices.Contains(names, unique) == attached {
		return nil
	}
	list := []any{}
	for v := range node.View().At("status", "volumesAttached").Objects() {
		if v.String("name") != unique {
			list = append(list, v.Shared())
		}
	}
	if attached {
		list = append(list, map[string]any{"name": unique, "devicePath": ""})
	}
	_, err := c.client.StrategicPatch(controller.Nodes, "", node.Name, "status", map[string]any{"status": map[string]any{"volumesAttached": list}})
	if controller.IsNotFound(err) {
		return nil
	}
	return err
}

// volumesOf returns the names in volumesInUse or volumesAttached of a Node.
func volumesOf(node *controller.Object, field string) (names []string) {
	if field == "volumesInUse" {
		return node.View().Strings("status", field)
	}
	for v := range node.View().At("status", field).Objects() {
		names = append(names, v.String("name"))
	}
	return names
}

func hasTaint(node *controller.Object, key string) bool {
	for taint := range node.View().At("spec", "taints").Objects() {
		if taint.String("key") == key {
			return true
		}
	}
	return false
}
