package release

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
)

// rootEnv is set to the root file system for a test binary that is to become the
// program of the image.
const rootEnv = "KUREKA_TEST_ROOT"

const (
	imageUser = 65532

	prCapAmbient         = 47
	prCapAmbientClearAll = 4
	prSetNoNewPrivs      = 38
	lastCapability       = 63 // beyond those there are
	capSysChroot         = 18
	capSysAdmin          = 21
)

// contained is a command that runs the program of a root file system as a container
// does: in namespaces, root read-only, but for /data, as the image's user without any
// capability. Those who are not root are that user in a user namespace.
func contained(root string, args ...string) (*exec.Cmd, error) {
	if err := os.MkdirAll(filepath.Join(root, "data"), 0o750); err != nil {
		return nil, fmt.Errorf("making the mount point: %w", err)
	}
	cmd := exec.Command("/proc/self/exe", args...) //nolint:noctx // its caller ends it
	cmd.Env = []string{rootEnv + "=" + root}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: imageUser, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: imageUser, HostID: gid, Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{capSysAdmin, capSysChroot}
	}
	return cmd, nil
}

// enter goes into a root file system, gives up everything and becomes its program. It
// returns only when something fails.
func enter(root string) error {
	runtime.LockOSThread() // what is given up belongs to a thread
	data := filepath.Join(root, "data")
	const plain = syscall.MS_NOSUID | syscall.MS_NODEV
	for _, m := range []struct {
		what, where, kind string
		flags             uintptr
		data              string
	}{
		{where: "/", flags: syscall.MS_REC | syscall.MS_PRIVATE},
		{what: root, where: root, flags: syscall.MS_BIND},
		{what: "tmpfs", where: data, kind: "tmpfs", flags: plain, data: "mode=0777,size=16m"},
		{where: root, flags: syscall.MS_REMOUNT | syscall.MS_BIND | syscall.MS_RDONLY | plain},
	} {
		if err := syscall.Mount(m.what, m.where, m.kind, m.flags, m.data); err != nil {
			return fmt.Errorf("mounting %s: %w", m.where, err)
		}
	}
	if err := errors.Join(syscall.Chroot(root), syscall.Chdir("/")); err != nil {
		return fmt.Errorf("entering %s: %w", root, err)
	}
	if err := giveUp(); err != nil {
		return err
	}
	return fmt.Errorf("becoming /kureka: %w", syscall.Exec("/kureka", append([]string{"/kureka"}, os.Args[1:]...), nil))
}

// giveUp gives up every capability, now and for good, and becomes the image's user.
func giveUp() error {
	for c := uintptr(0); c <= lastCapability; c++ {
		_ = prctl(syscall.PR_CAPBSET_DROP, c) // refused to those who are not root
	}
	if os.Getuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(imageUser), syscall.Setuid(imageUser)); err != nil {
			return fmt.Errorf("becoming user %d: %w", imageUser, err)
		}
	}
	err := errors.Join(prctl(prCapAmbient, prCapAmbientClearAll), prctl(prSetNoNewPrivs, 1), prctl(syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL)))
	if err != nil {
		return fmt.Errorf("giving up what is left: %w", err)
	}
	return nil
}

func prctl(option, argument uintptr) error {
	if _, _, err := syscall.RawSyscall6(syscall.SYS_PRCTL, option, argument, 0, 0, 0, 0); err != 0 {
		return err
	}
	return nil
}
