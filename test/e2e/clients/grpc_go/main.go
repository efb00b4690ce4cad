// A grpc-go client of the rate limit service, with Envoy's own Go messages: it shares no code with Penstock.
//
//	grpc_go_client -address HOST:PORT [-key KEY] [-keys N] [-calls N] [-at-once N] [-seconds S] [-keepalive S]
//
// Makes N calls, so many at once on one connection, or calls for S seconds; with -keepalive it then stays idle for so
// long that a ping of grpc-go goes out, and calls once more. Prints what came back as one line of JSON:
// {"ok": ..., "over": ..., "failed": {"Unavailable: ...": 1}, "connections": 1, "per_second": ..., "p99_us": ...}
package main

import (
	"context"
	"encoding/json"
	"flag"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	common "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	rls "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

var (
	address   = flag.String("address", "", "of Penstock's gRPC port")
	key       = flag.String("key", "alice", "value of the entry api_key")
	keys      = flag.Int("keys", 1, "how many values to take in turn: the key and a number, if more than one")
	calls     = flag.Int("calls", 1, "how many calls; without meaning beside -seconds")
	atOnce    = flag.Int("at-once", 1, "how many calls wait at a time")
	seconds   = flag.Int("seconds", 0, "call for so long")
	pingEvery = flag.Int("keepalive", 0, "ping an idle connection so often, in seconds; grpc-go takes 10 at least")
)

type outcome struct {
	mutex       sync.Mutex
	OK          int            `json:"ok"`
	Over        int            `json:"over"`
	Failed      map[string]int `json:"failed"`
	Connections int64          `json:"connections"` // that were opened
	PerSecond   int            `json:"per_second"`
	P99         int64          `json:"p99_us"`
	begun       atomic.Int64
	took        []time.Duration
}

// The value of the n-th call.
func value(n int64) string {
	if *keys == 1 {
		return *key
	}
	return *key + strconv.FormatInt(n%int64(*keys), 10)
}

func (o *outcome) call(client rls.RateLimitServiceClient, n int64) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	reply, err := client.ShouldRateLimit(ctx, &rls.RateLimitRequest{
		Domain: "edge",
		Descriptors: []*common.RateLimitDescriptor{{
			Entries: []*common.RateLimitDescriptor_Entry{{Key: "api_key", Value: value(n)}}}},
	}, grpc.WaitForReady(true))
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.took = append(o.took, time.Since(began))
	switch {
	case err != nil:
		o.Failed[err.Error()]++
	case reply.OverallCode == rls.RateLimitResponse_OVER_LIMIT:
		o.Over++
	default:
		o.OK++
	}
}

func (o *outcome) callMany(client rls.RateLimitServiceClient) {
	began := time.Now()
	end := began.Add(time.Duration(*seconds) * time.Second)
	more := func(n int64) bool {
		if *seconds > 0 {
			return time.Now().Before(end)
		}
		return n <= int64(*calls)
	}
	var callers sync.WaitGroup
	for range *atOnce {
		callers.Add(1)
		go func() {
			defer callers.Done()
			for n := o.begun.Add(1); more(n); n = o.begun.Add(1) {
				o.call(client, n)
			}
		}()
	}
	callers.Wait()
	o.PerSecond = int(float64(len(o.took)) / time.Since(began).Seconds())
	slices.Sort(o.took)
	o.P99 = o.took[len(o.took)*99/100].Microseconds()
}

func main() {
	flag.Parse()
	result := outcome{Failed: map[string]int{}}
	dial := func(ctx context.Context, to string) (net.Conn, error) {
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", to)
		if err == nil {
			atomic.AddInt64(&result.Connections, 1)
		}
		return connection, err
	}
	options := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(dial)}
	every := time.Duration(*pingEvery) * time.Second
	if every > 0 {
		options = append(options, grpc.WithKeepaliveParams(
			keepalive.ClientParameters{Time: every, Timeout: time.Second, PermitWithoutStream: true}))
	}
	channel, err := grpc.NewClient("passthrough:///"+*address, options...)
	if err != nil {
		panic(err)
	}
	defer channel.Close()
	client := rls.NewRateLimitServiceClient(channel)
	result.callMany(client)
	if every > 0 {
		time.Sleep(every + time.Second)
		result.call(client, 0)
	}
	if err := json.NewEncoder(os.Stdout).Encode(&result); err != nil {
		panic(err)
	}
}
