package apiserver

// createToken issues a token of a service account for a TokenRequest.
func (r *request) createToken() error {
	obj, o, err := r.readOrder()
	if err != nil {
		return err
	}
	if err := r.validate(obj, nil, o); err != nil {
		return err
	}
	if err := r.server.tokens.Request(obj, r.Namespace, r.Name); err != nil {
		return err
	}
	codec := r.bodyCodec()
	return r.answerUnstored(obj, codec)
}
