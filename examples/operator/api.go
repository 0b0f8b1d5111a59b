package operator

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
)

// A Website is a Deployment of an image. This is version v1, which is stored.
type Website struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WebsiteSpec   `json:"spec"`
	Status WebsiteStatus `json:"status,omitempty"`
}

// A WebsiteSpec is what a user wants.
type WebsiteSpec struct {
	Image string `json:"image"`
	// Replicas is the number of Pods. The default is 1.
	Replicas *int32 `json:"replicas,omitempty"`
}

// A WebsiteStatus is what the operator has seen.
type WebsiteStatus struct {
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	ReadyReplicas      int32 `json:"readyReplicas,omitempty"`
}

// Hub marks v1 as the version that others are converted to.
func (*Website) Hub() {}

// DeepCopyObject implements runtime.Object.
func (w *Website) DeepCopyObject() runtime.Object {
	out := *w
	out.ObjectMeta = *w.ObjectMeta.DeepCopy()
	out.Spec.Replicas = copyInt(w.Spec.Replicas)
	return &out
}

// A WebsiteList is a list of Websites.
type WebsiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Website `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *WebsiteList) DeepCopyObject() runtime.Object {
	out := *l
	out.ListMeta = *l.ListMeta.DeepCopy()
	out.Items = make([]Website, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Website)
	}
	return &out
}

// A WebsiteV1alpha1 is a Website in version v1alpha1, where replicas has the name size.
type WebsiteV1alpha1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		Image string `json:"image"`
		Size  *int32 `json:"size,omitempty"`
	} `json:"spec"`
	Status WebsiteStatus `json:"status,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (w *WebsiteV1alpha1) DeepCopyObject() runtime.Object {
	out := *w
	out.ObjectMeta = *w.ObjectMeta.DeepCopy()
	out.Spec.Size = copyInt(w.Spec.Size)
	return &out
}

// ConvertTo implements conversion.Convertible.
func (w *WebsiteV1alpha1) ConvertTo(hub conversion.Hub) error {
	to := hub.(*Website)
	to.ObjectMeta, to.Spec.Image, to.Spec.Replicas, to.Status = w.ObjectMeta, w.Spec.Image, w.Spec.Size, w.Status
	return nil
}

// ConvertFrom implements conversion.Convertible.
func (w *WebsiteV1alpha1) ConvertFrom(hub conversion.Hub) error {
	from := hub.(*Website)
	w.ObjectMeta, w.Spec.Image, w.Spec.Size, w.Status = from.ObjectMeta, from.Spec.Image, from.Spec.Replicas, from.Status
	return nil
}

func copyInt(n *int32) *int32 {
	if n == nil {
		return nil
	}
	out := *n
	return &out
}

// Scheme returns the types of Kubernetes and of this package.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		panic(err) // unreachable: the types are valid
	}
	v1 := schema.GroupVersion{Group: "shop.example.com", Version: "v1"}
	v1alpha1 := schema.GroupVersion{Group: "shop.example.com", Version: "v1alpha1"}
	scheme.AddKnownTypes(v1, &Website{}, &WebsiteList{})
	scheme.AddKnownTypeWithName(v1alpha1.WithKind("Website"), &WebsiteV1alpha1{})
	metav1.AddToGroupVersion(scheme, v1)
	metav1.AddToGroupVersion(scheme, v1alpha1)
	return scheme
}
