// The peer quic-go: serve and fetch over hq-interop and HTTP/3.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"time"
)

// What the interface of quic-go gives no access to, by option.
var cannot = map[string]string{
	"v2":                "it speaks version 2 but does no compatible version negotiation (RFC 9368)",
	"chacha20":          "its TLS library has no call that chooses the suites of TLS 1.3",
	"preferred-address": "its server has no setting for it",
}

// How long after its handshake a connection migrates, if it was told to.
const midway = 300 * time.Millisecond

func main() {
	options, err := readCommandLine(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for feature, why := range cannot {
		if options.has(feature) {
			fmt.Fprintf(os.Stderr, "unsupported: %s: %s\n", feature, why)
			os.Exit(127)
		}
	}
	switch options.command {
	case "about":
		text, _ := json.MarshalIndent(map[string]any{"name": name(), "cannot": cannot}, "", "  ")
		fmt.Println(string(text))
	case "serve":
		err = serve(options)
	case "fetch":
		err = fetch(options)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "failed:", err)
		os.Exit(1)
	}
}

func name() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/quic-go/quic-go" {
				return "quic-go " + module.Version[1:]
			}
		}
	}
	return "quic-go"
}
