// The command line that every peer understands; interop/README.md is its manual.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/quic-go/quic-go"
)

var withValue = []string{"alpn", "listen", "cert", "key", "root", "preferred-address", "out", "ca", "timeout"}
var flags = []string{"v2", "chacha20", "key-update", "ecn", "retry", "resume", "early-data", "each", "migrate"}

type options struct {
	command string
	values  map[string]string
	urls    []*url.URL
}

func contains(list []string, word string) bool {
	for _, other := range list {
		if other == word {
			return true
		}
	}
	return false
}

func readCommandLine(arguments []string) (*options, error) {
	read := &options{values: map[string]string{"alpn": "hq-interop", "timeout": "60"}}
	if len(arguments) == 0 || !contains([]string{"about", "serve", "fetch"}, arguments[0]) {
		return nil, errors.New("about, serve or fetch?")
	}
	read.command = arguments[0]
	rest := arguments[1:]
	for len(rest) > 0 {
		argument := rest[0]
		rest = rest[1:]
		option, isOption := strings.CutPrefix(argument, "--")
		switch {
		case isOption && contains(flags, option):
			read.values[option] = ""
		case isOption && contains(withValue, option):
			if len(rest) == 0 {
				return nil, fmt.Errorf("%s has no value", argument)
			}
			read.values[option] = rest[0]
			rest = rest[1:]
		case isOption:
			return nil, fmt.Errorf("no option %s", argument)
		default:
			parsed, err := url.Parse(argument)
			if err != nil {
				return nil, err
			}
			read.urls = append(read.urls, parsed)
		}
	}
	return read, nil
}

func (o *options) has(name string) bool {
	_, there := o.values[name]
	return there
}

func (o *options) timeout() time.Duration {
	seconds, err := strconv.Atoi(o.values["timeout"])
	if err != nil {
		return time.Minute
	}
	return time.Duration(seconds) * time.Second
}

// The requests of each connection.
func (o *options) batches() [][]*url.URL {
	switch {
	case o.has("each"):
		var batches [][]*url.URL
		for _, one := range o.urls {
			batches = append(batches, []*url.URL{one})
		}
		return batches
	case (o.has("resume") || o.has("early-data")) && len(o.urls) > 0:
		return [][]*url.URL{o.urls[:1], o.urls[1:]}
	}
	return [][]*url.URL{o.urls}
}

// TLS of both sides, with the key log.
func (o *options) tls() (*tls.Config, error) {
	config := &tls.Config{NextProtos: []string{o.values["alpn"]}, MinVersion: tls.VersionTLS13}
	if name := os.Getenv("SSLKEYLOGFILE"); name != "" {
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, err
		}
		config.KeyLogWriter = file
	}
	if o.command == "serve" {
		certificate, err := tls.LoadX509KeyPair(o.values["cert"], o.values["key"])
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{certificate}
		return config, nil
	}
	text, err := os.ReadFile(o.values["ca"])
	if err != nil {
		return nil, err
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(text) {
		return nil, errors.New("no certificate in --ca")
	}
	config.ClientSessionCache = tls.NewLRUClientSessionCache(100)
	return config, nil
}

func (o *options) quic() *quic.Config {
	return &quic.Config{
		Allow0RTT: true,
		// The default of 5 s is short for a handshake through heavy loss.
		HandshakeIdleTimeout: 60 * time.Second,
		MaxIdleTimeout:       60 * time.Second,
		TokenStore:           quic.NewLRUTokenStore(5, 5),
	}
}

// The file below the root that a request asks for, if its name is a plain one.
func (o *options) file(path string) (string, bool) {
	name := strings.TrimLeft(path, "/")
	if name == "" || strings.HasPrefix(name, ".") || strings.Contains(name, "/") {
		return "", false
	}
	file := filepath.Join(o.values["root"], name)
	info, err := os.Stat(file)
	return file, err == nil && info.Mode().IsRegular()
}
