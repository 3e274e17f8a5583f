// Command coredns is CoreDNS with only the plugins that the local cluster's Corefile uses:
// the stock program links clients of every cloud and takes several times as long to build.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"

	_ "github.com/coredns/coredns/plugin/bufsize"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/hosts"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/log"
	_ "github.com/coredns/coredns/plugin/loop"
	_ "github.com/coredns/coredns/plugin/metrics"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/reload"
	_ "github.com/coredns/coredns/plugin/template"
)

func main() {
	// The order in which a query passes the plugins; CoreDNS takes it from here, not from the
	// Corefile. Unlike in the stock order, template comes after kubernetes: it answers the rest.
	dnsserver.Directives = []string{
		"reload", "bufsize", "ready", "health", "prometheus", "errors", "log", "loadbalance",
		"cache", "hosts", "kubernetes", "template", "loop", "forward",
	}
	coremain.Run()
}
