package cli

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestClock_isTheServersAsFarAsItIsKnown(t *testing.T) {
	t.Parallel()
	local := testNow.Add(700 * time.Millisecond)
	for date, want := range map[string]time.Time{
		"":                              local,
		"yesterday":                     local,
		testNow.Format(http.TimeFormat): local, // it may be the same moment
		testNow.Add(-time.Second).Format(http.TimeFormat):      testNow.Add(-time.Second),
		testNow.Add(time.Second).Format(http.TimeFormat):       testNow.Add(time.Second),
		testNow.Add(-10 * time.Minute).Format(http.TimeFormat): testNow.Add(-10 * time.Minute),
	} {
		c := clock{local: func() time.Time { return local }}
		c.hear(http.Header{"Date": {date}})
		if got := c.now(); !got.Equal(want) {
			t.Errorf("with the date %q it is %s, want %s", date, got, want)
		}
	}
}

func TestWhy_comparesTimesWithTheClockThatMadeThem(t *testing.T) {
	t.Parallel()
	e := up()
	e.UpdatedAt, e.Lease = at(-time.Minute), nil
	server := registry(t, map[string]any{"/kureka/v1/instances/ORDERS/o-1": e})
	slow := func() time.Time { return testNow.Add(-10 * time.Minute) }
	got := runAt(t.Context(), slow, server, "why", "ORDERS", "o-1")
	if got.code != exitOK || !strings.Contains(got.out, "since 03:13:15 UTC (1m ago)") {
		t.Errorf("it says (%d)\n%s%s", got.code, got.out, got.err)
	}
}
