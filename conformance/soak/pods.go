package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// namespaces is how many namespaces have Pods.
const namespaces = 100

// soakPods creates the Pods and writes to them for the duration.
func (s *soak) soakPods(ctx context.Context) error {
	padding, err := s.createPods(ctx)
	if err != nil {
		return err
	}
	if s.peak, err = residentSize(s.pid); err != nil {
		return err
	}
	fmt.Printf("%d Pods of %d bytes: %d MiB resident\n", s.pods, s.size, s.peak)
	const seed = 1
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, seed))
	used := map[int]bool{} // the Pods that are being written
	rate, err := s.write(ctx, func(ctx context.Context, n int) error {
		mu.Lock()
		pod := random.IntN(s.pods)
		for used[pod] {
			pod = random.IntN(s.pods)
		}
		used[pod] = true
		mu.Unlock()
		defer func() {
			mu.Lock()
			delete(used, pod)
			mu.Unlock()
		}()
		if n%10 != 0 {
			return s.patchPod(ctx, pod, n)
		}
		if _, err := s.do(ctx, http.MethodDelete, podsPath(pod)+"/"+podName(pod)+"?gracePeriodSeconds=0", ""); err != nil {
			return err
		}
		// The end of the time must not leave the Pod deleted: another run of the loop needs it.
		_, err := s.do(context.WithoutCancel(ctx), http.MethodPost, podsPath(pod), podBody(pod, padding))
		return err
	})
	if err != nil {
		return err
	}
	if err := s.printBytes(ctx); err != nil {
		return err
	}
	return s.check(rate)
}

// createPods creates the namespaces and the Pods. It returns the length of the padding that
// gives a Pod its size.
func (s *soak) createPods(ctx context.Context) (padding int, err error) {
	for n := range namespaces {
		body := fmt.Sprintf(`{"metadata":{"name":"n-%d"}}`, n)
		if _, err := s.do(ctx, http.MethodPost, "/api/v1/namespaces", body); err != nil {
			return 0, err
		}
	}
	first, err := s.do(ctx, http.MethodPost, podsPath(0), podBody(0, 0))
	if err != nil {
		return 0, err
	}
	if _, err := s.do(ctx, http.MethodDelete, podsPath(0)+"/"+podName(0)+"?gracePeriodSeconds=0", ""); err != nil {
		return 0, err
	}
	padding = max(0, s.size-len(first))
	const clients = 8
	var next atomic.Int64
	var group sync.WaitGroup
	failed := make(chan error, clients)
	for range clients {
		group.Go(func() {
			for {
				pod := int(next.Add(1)) - 1
				if pod >= s.pods {
					return
				}
				if _, err := s.do(ctx, http.MethodPost, podsPath(pod), podBody(pod, padding)); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	group.Wait()
	select {
	case err := <-failed:
		return 0, err
	default:
		return padding, nil
	}
}

func podsPath(pod int) string { return fmt.Sprintf("/api/v1/namespaces/n-%d/pods", pod%namespaces) }

func podName(pod int) string { return fmt.Sprintf("web-%06d-x7f2k", pod) }

// podBody returns a new Pod with a padding of so many bytes.
func podBody(pod, padding int) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,
		"labels":{"app":"web-%d","pod-template-hash":"5d4f8c9b7"},"annotations":{"example.com/padding":%q}},
		"spec":{"containers":[{"name":"web","image":"registry.example.com/web:v1.2.3","ports":[{"containerPort":8080}],
		"env":[{"name":"LOG_LEVEL","value":"info"},{"name":"POD","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],
		"resources":{"requests":{"cpu":"100m","memory":"128Mi"},"limits":{"memory":"256Mi"}},
		"readinessProbe":{"httpGet":{"path":"/ready","port":8080}}}]}}`,
		podName(pod), pod%1000, strings.Repeat("x", padding))
}

// patchPod patches the status of a Pod as a kubelet does.
func (s *soak) patchPod(ctx context.Context, pod, n int) error {
	now := time.Now().UTC().Format(time.RFC3339)
	body := fmt.Sprintf(`{"status":{"phase":"Running","podIP":"10.%d.%d.%d","startTime":%q,
		"conditions":[{"type":"Ready","status":"True","lastTransitionTime":%q,"message":"write %d"}]}}`,
		n>>16&255, n>>8&255, n&255, now, now, n)
	req, err := http.NewRequestWithContext(ctx, http.MethodPatch, s.url+podsPath(pod)+"/"+podName(pod)+"/status", strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/strategic-merge-patch+json")
	_, err = send(req)
	return err
}

// printBytes prints the sizes that the metrics of the server have.
func (s *soak) printBytes(ctx context.Context) error {
	text, err := s.do(ctx, http.MethodGet, "/metrics", "")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch bytes, _ := strconv.ParseFloat(value, 64); {
		case name == "fakeapi_live_bytes":
			fmt.Printf("objects: %.0f MiB, %.0f bytes for each\n", bytes/(1<<20), bytes/float64(s.pods))
		case strings.HasPrefix(name, "fakeapi_") && strings.Contains(name, "bytes"):
			fmt.Printf("%s: %.0f MiB\n", name, bytes/(1<<20))
		}
	}
	return nil
}
