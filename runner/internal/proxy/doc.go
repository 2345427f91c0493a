// Package proxy is the API server that playbooks talk to: a reverse proxy in front of the real one.
//
// A run opens a [Session] and gives its kubeconfig to the playbook. The random token in it is all that tells one
// run from another; every run sees the same address. Requests and answers pass through as they are, streams and
// upgraded connections included; objects always come from the API server. What is added: objects that a run creates
// are marked as owned by the run's resource, their kinds are watched from then on, the run's writes and refusals are
// noted, who asks is told of the Secrets that pass, and which kinds are served is answered from memory.
package proxy
