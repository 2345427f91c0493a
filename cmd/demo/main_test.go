package main

import (
	"os"
	"testing"
)

// stubEnv makes the test binary play the part of bin/chartbook, and of the demo's own store.
const stubEnv = "CHARTBOOK_DEMO_STUB"

func TestMain(m *testing.M) {
	if os.Getenv(stubEnv) == "" || len(os.Args) < 2 {
		os.Exit(m.Run())
	}
	switch os.Args[1] {
	case "run":
		os.Exit(stubOperator(os.Args[2:]))
	case "store":
		os.Exit(execute(os.Args[1:]))
	}
	os.Exit(m.Run())
}
