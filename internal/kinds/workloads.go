package kinds

import (
	"strconv"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func defaultDeployment(obj map[string]any) {
	spec := child(obj, "spec")
	fill(spec, "replicas", int64(1))
	strategy := child(spec, "strategy")
	fill(strategy, "type", "RollingUpdate")
	if strategy["type"] == "RollingUpdate" {
		rolling := child(strategy, "rollingUpdate")
		fill(rolling, "maxUnavailable", "25%")
		fill(rolling, "maxSurge", "25%")
	}
	fill(spec, "revisionHistoryLimit", int64(10))
	fill(spec, "progressDeadlineSeconds", int64(600))
	defaultTemplate(child(spec, "template"))
}

func defaultReplicaSet(obj map[string]any) {
	spec := child(obj, "spec")
	fill(spec, "replicas", int64(1))
	defaultTemplate(child(spec, "template"))
}

func defaultReplicationController(obj map[string]any) {
	spec := child(obj, "spec")
	fill(spec, "replicas", int64(1))
	template := object.Map(spec, "template")
	if template == nil {
		return
	}
	labels := object.Map(template, "metadata", "labels")
	if len(object.Map(spec, "selector")) == 0 && len(labels) > 0 {
		spec["selector"] = object.Copy(labels)
	}
	copyLabels(object.Meta(obj), labels)
	defaultTemplate(template)
}

func defaultStatefulSet(obj map[string]any) {
	spec := child(obj, "spec")
	fill(spec, "podManagementPolicy", "OrderedReady")
	strategy := child(spec, "updateStrategy")
	if strategy["type"] == nil {
		strategy["type"] = "RollingUpdate"
		child(strategy, "rollingUpdate")
	}
	if rolling := object.Map(strategy, "rollingUpdate"); rolling != nil && strategy["type"] == "RollingUpdate" {
		fill(rolling, "partition", int64(0))
	}
	retention := child(spec, "persistentVolumeClaimRetentionPolicy")
	fill(retention, "whenDeleted", "Retain")
	fill(retention, "whenScaled", "Retain")
	fill(spec, "replicas", int64(1))
	fill(spec, "revisionHistoryLimit", int64(10))
	defaultTemplate(child(spec, "template"))
	for claim := range object.Each(spec["volumeClaimTemplates"]) {
		claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
		defaultClaim(claim)
	}
}

// prepareStatefulSet drops what a disabled feature gate holds back.
func prepareStatefulSet(obj, old map[string]any) {
	path := []string{"spec", "updateStrategy", "rollingUpdate"}
	if rolling := object.Map(obj, path...); rolling != nil {
		without(rolling, object.Map(old, path...), "maxUnavailable")
	}
	prepareTemplate(obj, old)
}

func defaultDaemonSet(obj map[string]any) {
	spec := child(obj, "spec")
	strategy := child(spec, "updateStrategy")
	fill(strategy, "type", "RollingUpdate")
	if strategy["type"] == "RollingUpdate" {
		rolling := child(strategy, "rollingUpdate")
		fill(rolling, "maxUnavailable", int64(1))
		fill(rolling, "maxSurge", int64(0))
	} else if rolling := object.Map(strategy, "rollingUpdate"); rolling != nil {
		fill(rolling, "maxUnavailable", int64(0))
		fill(rolling, "maxSurge", int64(0))
	}
	fill(spec, "revisionHistoryLimit", int64(10))
	defaultTemplate(child(spec, "template"))
	fill(child(object.Meta(obj), "annotations"), templateGeneration, "0")
}

// templateGeneration is the annotation that counts the templates that a
// DaemonSet has had, once a member of its specification. It is always there.
const templateGeneration = "deprecated.daemonset.template.generation"

// prepareDaemonSet counts the templates: from what the object is created with,
// at least 1.
func prepareDaemonSet(obj, old map[string]any) {
	prepareTemplate(obj, old)
	if old == nil {
		n, _ := strconv.ParseInt(templateGenerationOf(obj), 10, 64)
		setTemplateGeneration(obj, max(n, 1))
		return
	}
	n, _ := strconv.ParseInt(templateGenerationOf(old), 10, 64)
	if !validation.Equal(object.Value(obj, "spec", "template"), object.Value(old, "spec", "template")) {
		n++
	}
	setTemplateGeneration(obj, n)
}

// prepareDaemonSetStatus leaves the templates' count alone.
func prepareDaemonSetStatus(obj, old map[string]any) {
	statusAndMeta.prepare(obj, old)
	n, _ := strconv.ParseInt(templateGenerationOf(old), 10, 64)
	setTemplateGeneration(obj, n)
}

func templateGenerationOf(obj map[string]any) string {
	return object.String(obj, "metadata", "annotations", templateGeneration)
}

func setTemplateGeneration(obj map[string]any, n int64) {
	child(object.Meta(obj), "annotations")[templateGeneration] = strconv.FormatInt(n, 10)
}

// prepareTemplate drops from the pod template what disabled feature gates hold
// back.
func prepareTemplate(obj, old map[string]any) {
	if spec := object.Map(obj, "spec", "template", "spec"); spec != nil {
		dropDisabledPodFields(spec, object.Map(old, "spec", "template", "spec"))
	}
}

func defaultPodTemplate(obj map[string]any) { defaultTemplate(child(obj, "template")) }

func preparePodTemplate(obj, old map[string]any) {
	dropDisabledPodFields(child(child(obj, "template"), "spec"), object.Map(old, "template", "spec"))
}
