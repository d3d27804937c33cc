package kubelet

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func TestAddressesAreGivenInTurn(t *testing.T) {
	a := mustAddresses(t, "10.99.1.0/29") // .2 to .7
	got := make([]string, 0, 6)
	for range 6 {
		got = append(got, mustTake(t, a, "a", ""))
	}
	want := []string{"10.99.1.2", "10.99.1.3", "10.99.1.4", "10.99.1.5", "10.99.1.6", "10.99.1.7"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
	if ip, err := a.take("b", ""); err == nil {
		t.Errorf("took %s although all are in use", ip)
	}
	a.release("a", "10.99.1.4")
	if ip := mustTake(t, a, "b", ""); ip != "10.99.1.4" {
		t.Errorf("took %s, want the only free one", ip)
	}
}

func TestFreedAddressIsNotTheNextOne(t *testing.T) {
	a := mustAddresses(t, "10.99.1.0/24")
	first := mustTake(t, a, "a", "")
	a.release("a", first)
	if next := mustTake(t, a, "b", ""); next == first {
		t.Errorf("took %s again at once", first)
	}
}

func TestWantedAddressChangesItsOwner(t *testing.T) {
	a := mustAddresses(t, "10.99.1.0/24")
	first := mustTake(t, a, "a", "")
	if got := mustTake(t, a, "b", first); got != first {
		t.Errorf("took %s, want %s", got, first)
	}
	a.release("a", first)
	if a.owner[mustAddr(t, first)] != "b" {
		t.Error("the former owner released the address of the new one")
	}
	if _, err := a.take("c", "not an address"); err == nil {
		t.Error("took something that is no address")
	}
}

func mustTake(t *testing.T, a *addresses, uid types.UID, wanted string) string {
	t.Helper()
	ip, err := a.take(uid, wanted)
	if err != nil {
		t.Fatal(err)
	}
	return ip
}

func mustAddresses(t *testing.T, cidr string) *addresses {
	t.Helper()
	a, err := newAddresses(cidr)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func mustAddr(t *testing.T, ip string) netip.Addr {
	t.Helper()
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}
