package status

import (
	"slices"
	"strings"
)

// Aggregate returns the message of several errors as kube-apiserver prints it:
// "a" for one, "[a, b]" for more, each distinct message once.
func Aggregate(errs []error) string {
	var messages []string
	for _, err := range errs {
		if m := err.Error(); !slices.Contains(messages, m) {
			messages = append(messages, m)
		}
	}
	if len(messages) == 1 {
		return messages[0]
	}
	return "[" + strings.Join(messages, ", ") + "]"
}
