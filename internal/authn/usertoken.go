package authn

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
)

// UserTokens issues bearer tokens of users and verifies them. A token holds its user
// and a signature, so none has to be stored. It is safe for concurrent use.
type UserTokens struct {
	key []byte

	mu       sync.RWMutex
	verified map[string]*User // by their tokens, at most maxVerified
}

// NewUserTokens returns UserTokens with a random key.
func NewUserTokens() *UserTokens {
	u := &UserTokens{key: make([]byte, sha256.Size)}
	_, _ = rand.Read(u.key) // does not fail
	return u
}

// Issue returns the token of a user, which is the same each time.
func (u *UserTokens) Issue(user User) string {
	text, err := json.Marshal(user)
	if err != nil {
		panic("authn: cannot encode a user: " + err.Error()) // unreachable: strings have an encoding
	}
	payload := base64.RawURLEncoding.EncodeToString(text)
	return payload + "." + u.sign(payload)
}

// userOf returns the user of a token; nil if Issue does not return it for a user with
// a name. The user is shared: the caller must not change it.
func (u *UserTokens) userOf(token string) *User {
	if u == nil {
		return nil
	}
	u.mu.RLock()
	user := u.verified[token]
	u.mu.RUnlock()
	if user != nil {
		return user
	}
	if user = u.verify(token); user == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.verified == nil || len(u.verified) >= maxVerified {
		u.verified = map[string]*User{}
	}
	u.verified[strings.Clone(token)] = user
	return user
}

// verify is userOf without a memory.
func (u *UserTokens) verify(token string) *User {
	payload, signature, ok := strings.Cut(token, ".")
	if !ok || !hmac.Equal([]byte(signature), []byte(u.sign(payload))) {
		return nil
	}
	text, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return nil
	}
	user := &User{}
	if err := json.Unmarshal(text, user); err != nil || user.Name == "" {
		return nil
	}
	return user
}

func (u *UserTokens) sign(payload string) string {
	mac := hmac.New(sha256.New, u.key)
	mac.Write([]byte(payload))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
