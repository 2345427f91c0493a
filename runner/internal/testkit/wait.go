package testkit

import (
	"context"
	"testing"
	"time"
)

// Eventually calls check until it returns nil, and fails the test with its last error after timeout.
func Eventually(tb testing.TB, timeout time.Duration, check func(ctx context.Context) error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), timeout)
	defer cancel()
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			tb.Fatalf("not so after %s: %v", timeout, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
