package findings

// statuses finds writes of objects whose status the server has ignored.
func (b *builder) statuses() {
	for i := range b.requests {
		if r := &b.requests[i]; r.What.StatusIgnored {
			b.add("status-ignored", r.client(), r.resource(), r.Verb+" of "+name(r.target())+" has another status, which the server ignored", b.text(r), r.Order)
		}
	}
}
