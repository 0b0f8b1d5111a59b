package clientsuite

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// maxObjects is the largest number of objects of a churn.
const maxObjects = 20

// churn creates, updates and deletes ConfigMaps at random and logs its changes.
type churn struct {
	client corev1client.ConfigMapInterface
	random *rand.Rand
	live   map[string]*corev1.ConfigMap // by name
	log    map[string][]change          // by name
	n      int                          // changes so far
}

func newChurn(client corev1client.ConfigMapInterface, seed uint64) *churn {
	return &churn{
		client: client,
		random: rand.New(rand.NewPCG(seed, 0)),
		live:   map[string]*corev1.ConfigMap{},
		log:    map[string][]change{},
	}
}

// write makes n random changes.
func (c *churn) write(ctx context.Context, n int) error {
	for range n {
		if err := c.one(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c *churn) one(ctx context.Context) error {
	c.n++
	name := fmt.Sprintf("cm-%02d", c.random.IntN(maxObjects))
	old := c.live[name]
	switch {
	case old == nil:
		cm, err := c.client.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"by": "churn"}},
			Data:       map[string]string{"n": strconv.Itoa(c.n)},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		c.live[name] = cm
		c.log[name] = append(c.log[name], change{added, cm.ResourceVersion})
	case c.random.IntN(4) == 0:
		if err := c.client.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			return err
		}
		delete(c.live, name)
		c.log[name] = append(c.log[name], change{action: deleted})
	default:
		cm := old.DeepCopy()
		cm.Data["n"] = strconv.Itoa(c.n)
		cm, err := c.client.Update(ctx, cm, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		c.live[name] = cm
		c.log[name] = append(c.log[name], change{updated, cm.ResourceVersion})
	}
	return nil
}

// versions returns the names and resource versions of the existing objects, sorted
// by name.
func (c *churn) versions() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.live)) {
		out = append(out, name+"@"+c.live[name].ResourceVersion)
	}
	return out
}
