// Package paging has a client that loses objects between two pages of a list, and its
// fixed version.
//
// The client keeps an inventory of Pods. It lists them in pages, adds new names and
// removes missing ones. All pages are of one resource version. After the server has
// compacted that version, it answers the next page with 410 Expired. The pages read so
// far are not the whole list, so removing the names that are not in them is wrong.
//
// The fixed client lists again without pages, as client-go's pager does.
package paging

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
)

// An Inventory has the names of the Pods in a namespace.
type Inventory struct {
	Client    kubernetes.Interface
	Namespace string
	PageSize  int64

	// StartOver lists again without pages when the version of the pages has
	// expired.
	StartOver bool

	Names sets.Set[string]
}

// Take updates the inventory.
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
			return pods, nil // the bug: the list is not complete
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
