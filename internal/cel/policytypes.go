package cel

import "github.com/kubefake/kubefake/internal/schema"

// fields are the members of a type that policies see, by what they are.
type fields map[string]*schema.Schema

func structured(name string, members fields) *schema.Schema {
	return &schema.Schema{Name: name, Type: "object", Properties: members}
}

var (
	text      = &schema.Schema{Type: "string"}
	texts     = &schema.Schema{Type: "array", Items: text}
	textMap   = &schema.Schema{Type: "object", Additional: text}
	textsMap  = &schema.Schema{Type: "object", Additional: texts}
	flag      = &schema.Schema{Type: "boolean"}
	number    = &schema.Schema{Type: "integer"}
	timestamp = &schema.Schema{Type: "string", Format: "date-time"}
	dynamic   = &schema.Schema{IntOrString: true}
)

// requestSchema describes request: an AdmissionRequest without its objects, which
// are variables of their own.
func requestSchema() *schema.Schema {
	kind := structured("kubernetes.GroupVersionKind", fields{"group": text, "version": text, "kind": text})
	resource := structured("kubernetes.GroupVersionResource", fields{"group": text, "version": text, "resource": text})
	return structured("kubernetes.AdmissionRequest", fields{
		"kind": kind, "resource": resource, "subResource": text,
		"requestKind": kind, "requestResource": resource, "requestSubResource": text,
		"name": text, "namespace": text, "operation": text,
		"userInfo": structured("kubernetes.UserInfo", fields{"username": text, "uid": text, "groups": texts, "extra": textsMap}),
		"dryRun":   flag, "options": dynamic,
	})
}

// namespaceSchema describes namespaceObject: a Namespace without what policies
// have no business with.
func namespaceSchema() *schema.Schema {
	condition := structured("kubernetes.NamespaceCondition", fields{
		"status": text, "type": text, "lastTransitionTime": timestamp, "message": text, "reason": text,
	})
	return structured("kubernetes.Namespace", fields{
		"metadata": structured("kubernetes.NamespaceMetadata", fields{
			"name": text, "generateName": text, "namespace": text, "labels": textMap, "annotations": textMap, "UID": text,
			"creationTimestamp": timestamp, "deletionGracePeriodSeconds": number, "deletionTimestamp": timestamp,
			"generation": number, "resourceVersion": text, "finalizers": texts,
		}),
		"spec": structured("kubernetes.NamespaceSpec", fields{"finalizers": texts}),
		"status": structured("kubernetes.NamespaceStatus", fields{
			"conditions": &schema.Schema{Type: "array", Items: condition}, "phase": text,
		}),
	})
}
