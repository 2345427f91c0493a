// Package runner is the public Go API of Chartbook: embed an operator made of playbooks, roles and charts in a main of
// your own.
//
// [Run] is all that `chartbook run` does: it reads the watches file ([watches.Load]), builds an engine and a
// controller for each watch and runs them until its context is done. [Validate] is `chartbook validate`, [Runs] is
// `chartbook runs`.
//
// A tour of what lies below, in the order in which an event passes through it:
//
//   - controller notices that a resource or one of its children changed and takes it through the steps of a reconcile;
//   - plan decides, by an ordered list of pure rules, whether to run, and why;
//   - input turns the resource into extra vars or chart values;
//   - engine is the contract of what then runs: engine/ansible starts ansible-playbook by way of process,
//     engine/helm calls Helm in process;
//   - proxy is the API server that a playbook sees; it makes the resource the owner of what the playbook creates;
//   - dependents watches those children;
//   - status turns the result into conditions and writes them; observe holds the names of events and metrics;
//   - journal keeps what ran.
package runner
