package runner

import "testing"

func TestIsLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:5050": true, "127.0.0.2:0": true, "[::1]:5050": true, "localhost:5050": true,
		":5050": false, "0.0.0.0:5050": false, "10.0.0.1:5050": false, "example.com:5050": false, "localhost": false,
	} {
		if got := isLoopback(address); got != want {
			t.Errorf("%s: %v; the endpoint asks for no token, so nobody else may reach it", address, got)
		}
	}
}
