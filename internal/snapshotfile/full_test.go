package snapshotfile

import (
	"fmt"
	"net/netip"
	"reflect"
	"time"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
)

// full is a checkpoint in which every field has a value, so that a name that is
// changed or lost shows.
func full() *cluster.Checkpoint {
	cp := &cluster.Checkpoint{}
	n := 0
	fill(reflect.ValueOf(cp).Elem(), &n)
	return cp
}

func fill(v reflect.Value, n *int) {
	*n++
	if fillValue(v, *n) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key"), value)
	default:
		fillPlain(v, *n)
	}
}

// fillValue fills what has a form of its own in the file.
func fillValue(v reflect.Value, n int) bool {
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.Unix(1_700_000_000+int64(n), 5_000_000).UTC()
	case *netip.Addr:
		*x = netip.AddrFrom4([4]byte{10, 0, 0, byte(n)})
	case *netip.AddrPort:
		*x = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(n)}), uint16(n))
	case *netip.Prefix:
		*x = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(n), 0}), 24)
	case *evidence.Labels:
		*x = evidence.NewLabels(map[string]string{"key": "value"})
	case *registry.Status:
		*x = registry.Starting
	case *registry.Action:
		*x = registry.Modified
	default:
		return false
	}
	return true
}

func fillPlain(v reflect.Value, n int) {
	switch {
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.Kind() == reflect.String:
		v.SetString(fmt.Sprintf("TEXT-%d", n))
	case v.CanInt():
		v.SetInt(int64(n))
	case v.CanUint():
		v.SetUint(uint64(n))
	default:
		panic("no value for a " + v.Type().String())
	}
}
