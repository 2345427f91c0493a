// Package ansible is the engine that runs Ansible playbooks and roles.
//
// A run goes this way: [Engine.Run] makes a private directory for it (rundir.go) and the command line (command.go)
// and environment (environment.go); an executor (executor.go, ansiblerunner.go) runs ansible-playbook; a callback
// plugin (python/callback) streams events, which a recorder takes in (recorder.go); what they and the exit code mean
// is decided in classify.go. Secrets that the job knows are taken out of all that leaves the engine (redact.go). All
// engines of a process share one [Workspace] for files and artifacts.
package ansible
