// Package paging is a client that loses objects between two pages of a list, and
// one that does not.
//
// The client keeps an inventory of Pods: it lists them in pages, adds what is
// new and strikes what is gone. All pages are of one version of the server. Once
// the server has forgotten that version, the next page is answered with 410
// Expired: what has been read until then is not the whole list, and striking
// what is not in it is a mistake.
//
// The fixed one begins anew, without pages, as client-go's pager does.
package paging

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
)

// An Inventory knows the names of the Pods of a namespace.
type Inventory struct {
	Client    kubernetes.Interface
	Namespace string
	PageSize  int64

	// StartOver makes the inventory list again without pages once the version
	// of its pages has expired.
	StartOver bool

	Names sets.Set[string]
}

// Take brings the inventory up to date.
func (i *Inventory) Take(ctx context.Context) error {
	pods, err := i.list(ctx)
	if err != nil {
		return err
	}
	i.Names = sets.New[string]()
	for _, pod := range pods {
		i.Names.Insert(pod.Name)
	}
	return nil
}

// list reads all pages.
func (i *Inventory) list(ctx context.Context) ([]corev1.Pod, error) {
	options := metav1.ListOptions{Limit: i.PageSize}
	var pods []corev1.Pod
	for {
		page, err := i.Client.CoreV1().Pods(i.Namespace).List(ctx, options)
		switch {
		case apierrors.IsResourceExpired(err) && !i.StartOver:
			return pods, nil // there is no more
		case apierrors.IsResourceExpired(err) && options.Continue != "":
			options, pods = metav1.ListOptions{}, nil
			continue
		case err != nil:
			return nil, err
		}
		pods = append(pods, page.Items...)
		if options.Continue = page.Continue; options.Continue == "" {
			return pods, nil
		}
	}
}
