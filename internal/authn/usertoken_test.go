package authn

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUserTokens(t *testing.T) {
	tokens := NewUserTokens()
	alice := User{Name: "alice", UID: "1", Groups: []string{"devs"}, Extra: map[string][]string{"a": {"b"}, "c": nil}}
	token := tokens.Issue(alice)
	assert.Equal(t, &alice, tokens.userOf(token))
	assert.Same(t, tokens.userOf(token), tokens.userOf(token))
	assert.Equal(t, token, tokens.Issue(alice), "the same each time")

	payload, signature, _ := strings.Cut(token, ".")
	_, other, _ := strings.Cut(tokens.Issue(User{Name: "bob"}), ".")
	for name, token := range map[string]string{
		"empty":             "",
		"no signature":      payload,
		"empty signature":   payload + ".",
		"other signature":   payload + "." + other,
		"longer":            token + "." + signature,
		"other payload":     strings.ToUpper(payload) + "." + signature,
		"other key":         NewUserTokens().Issue(alice),
		"no name":           tokens.Issue(User{}),
		"payload not JSON":  "AAAA." + tokens.sign("AAAA"),
		"payload not coded": "?." + tokens.sign("?"),
	} {
		assert.Nil(t, tokens.userOf(token), name)
	}
	assert.Nil(t, (*UserTokens)(nil).userOf(token))
}

func TestUserTokensForget(t *testing.T) {
	tokens := NewUserTokens()
	for i := range maxVerified + 1 {
		name := strconv.Itoa(i)
		assert.Equal(t, name, tokens.userOf(tokens.Issue(User{Name: name})).Name)
	}
	assert.Len(t, tokens.verified, 1)
}
