// Package proxy is the API server that playbooks talk to: a reverse proxy in front of the real one.
//
// A run opens a [Session] and gives its kubeconfig to the playbook. The random token in it is all that tells one
// run from another; every run sees the same address. Requests and answers pass through as they are, streams and
// upgraded connections included. Three things are added: objects that a run creates are marked as owned by the
// run's resource, their kinds are watched from then on, and the run's writes and refusals are noted.
package proxy
