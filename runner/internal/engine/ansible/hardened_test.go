package ansible

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestHardenedContainer runs some of the other tests as clusters run operators: as a user that no file knows, without a
// home directory, on a read-only root with one directory for temporary files.
// Covers UP H10.
func TestHardenedContainer(t *testing.T) {
	needAnsible(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can make a file system read-only")
	}
	if out, err := exec.CommandContext(t.Context(), "unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespaces here: %v %s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const script = `set -e
mount --make-rprivate /
mount -t tmpfs -o mode=1777 tmpfs "$1"
cp "$2" "$1/tests" && chmod 755 "$1/tests"
mount -o remount,ro,bind /
if touch /chartbook-test 2>/dev/null; then echo "the root is writable"; exit 1; fi
cd /
exec setpriv --reuid 4242 --regid 0 --clear-groups env -u HOME TMPDIR="$1" PATH=/usr/bin:/bin \
	"$1/tests" -test.v -test.run "$3"`
	// The directories above a test's own temporary one are closed to other users.
	dir, err := os.MkdirTemp("/var/tmp", "chartbook-test-") //nolint:usetesting // others cannot get into that one
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Remove(dir) }()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const which = "^(TestOutcomes|TestDetachedDaemonOutlivesAGoodRun)$/^(ok|program_failed|requeue|direct|runner|warm)$"
	out, err := exec.CommandContext(t.Context(), "unshare", "--mount", "sh", "-c", script, "sh", dir, self, which).CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS") != 17 {
		t.Errorf("%v\n%s", err, out)
	}
}
