// Package apirecord notes what a run asks of the API server: how often, what it changed and what it was refused.
//
// A [Recorder] sits in the path of HTTP requests, either around the transport of a client in this process (the
// Helm engine) or in the proxy that playbooks talk to. It reads along while answers pass and holds nothing
// back: an answer reaches its reader as early as it would without the recorder, and is never altered.
package apirecord
