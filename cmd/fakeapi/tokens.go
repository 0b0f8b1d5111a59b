package main

import (
	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/inputfile"
)

// readTokens returns an option for each user of a token file. Errors name the
// file and the line.
func readTokens(name string) ([]fakeapi.Option, error) {
	f, err := inputfile.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	users, err := authn.ReadTokenFile(f)
	if err != nil {
		return nil, inputfile.Wrap(name, err)
	}
	options := make([]fakeapi.Option, len(users))
	for i, u := range users {
		options[i] = fakeapi.WithToken(u.Token, fakeapi.User(u.User))
	}
	return options, nil
}
