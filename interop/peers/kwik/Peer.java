// kwik, a QUIC stack in Java, with flupke for HTTP/3, as a peer of the interoperability matrix: see interop/README.md.

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import tech.kwik.agent15.TlsConstants.CipherSuite;
import tech.kwik.core.QuicClientConnection;
import tech.kwik.core.QuicClientConnection.StreamEarlyData;
import tech.kwik.core.QuicConnection;
import tech.kwik.core.QuicConnection.QuicVersion;
import tech.kwik.core.QuicSessionTicket;
import tech.kwik.core.QuicStream;
import tech.kwik.core.impl.QuicClientConnectionImpl;
import tech.kwik.core.log.SysOutLogger;
import tech.kwik.core.server.ApplicationProtocolConnection;
import tech.kwik.core.server.ApplicationProtocolConnectionFactory;
import tech.kwik.core.server.ServerConnectionConfig;
import tech.kwik.core.server.ServerConnector;
import tech.kwik.flupke.Http3SingleConnectionClient;
import tech.kwik.flupke.server.Http3ApplicationProtocolFactory;

/** The command line of the peers. */
public final class Peer {
    private static final int UNSUPPORTED = 127;
    private static final char[] PASSWORD = "password".toCharArray();
    private static final int AT_ONCE = 64;
    private static final int IDLE_SECONDS = 60;
    private static final Set<String> FLAGS = Set.of(
        "--v2", "--chacha20", "--key-update", "--ecn", "--retry", "--resume", "--early-data", "--each", "--migrate");
    private static final Map<String, String> CANNOT = Map.of(
        "ecn", "its UDP sockets neither set nor read the ECN field: Java's DatagramSocket has no access to it",
        "follow", "its server discards datagrams from any address but the client's first",
        "active-migration", "its server announces disable_active_migration",
        "preferred-address", "its server has no option for it");

    private final Map<String, String> options = new HashMap<>();
    private final List<String> urls = new ArrayList<>();

    private Peer(String[] words) {
        for (int at = 1; at < words.length; at++) {
            if (!words[at].startsWith("--")) {
                urls.add(words[at]);
            } else {
                options.put(words[at], FLAGS.contains(words[at]) ? "" : words[++at]);
            }
        }
    }

    /** Runs a command. */
    public static void main(String[] words) throws Exception {
        String command = words.length == 0 ? "" : words[0];
        Peer peer = words.length == 0 ? null : new Peer(words);
        switch (command) {
            case "about" -> about();
            case "serve" -> peer.serve();
            case "fetch" -> peer.fetchOrFail();
            default -> fail(2, "usage: Peer about|serve|fetch");
        }
    }

    /** An exception of one thread would leave the others running. */
    private void fetchOrFail() {
        try {
            fetch();
        } catch (Exception error) {
            error.printStackTrace();
            fail(1, "failed: " + error.getMessage());
        }
    }

    private static void about() {
        List<String> cannot = new ArrayList<>();
        CANNOT.forEach((option, why) -> cannot.add("\"" + option + "\": \"" + why + "\""));
        System.out.println(
            "{\"name\": \"kwik " + version(QuicConnection.class) + "\", \"cannot\": {" + String.join(", ", cannot) + "}}");
    }

    /** The version in the name of the library's file. */
    private static String version(Class<?> of) {
        String file = of.getProtectionDomain().getCodeSource().getLocation().getPath();
        return file.replaceFirst(".*-", "").replaceFirst("\\.jar$", "");
    }

    private static void fail(int code, String why) {
        System.err.println(why);
        System.exit(code);
    }

    private boolean has(String option) {
        return options.containsKey(option);
    }

    private void refuse(String option) {
        if (has(option)) {
            fail(UNSUPPORTED, "unsupported: " + option + ": " + CANNOT.getOrDefault(option.substring(2), "not at this end"));
        }
    }

    private String alpn() {
        return options.getOrDefault("--alpn", "hq-interop");
    }

    @SuppressWarnings("deprecation") // The timeout in seconds: the other method has no unit in its name.
    private void serve() throws Exception {
        // With --chacha20 and --key-update, which only its client can bring about, it follows the other end.
        for (String option : List.of("--ecn", "--preferred-address")) {
            refuse(option);
        }
        ServerConnectionConfig config = ServerConnectionConfig.builder()
            .maxIdleTimeoutInSeconds(IDLE_SECONDS)
            .maxBidirectionalStreamBufferSize(1_000_000)
            .maxUnidirectionalStreamBufferSize(1_000_000)
            .maxConnectionBufferSize(10_000_000)
            .maxOpenPeerInitiatedUnidirectionalStreams(10)
            .maxOpenPeerInitiatedBidirectionalStreams(100)
            .retryRequired(
                has("--retry")
                    ? ServerConnectionConfig.RetryRequired.Always : ServerConnectionConfig.RetryRequired.Never)
            .connectionIdLength(8)
            .build();
        URI listen = URI.create("udp://" + options.get("--listen"));
        String host = listen.getHost().replaceAll("[\\[\\]]", "");
        DatagramSocket socket = new DatagramSocket(new InetSocketAddress(host, listen.getPort()));
        ServerConnector connector = ServerConnector.builder()
            .withSocket(socket)
            .withKeyStore(identity(), "peer", PASSWORD)
            .withSupportedVersions(List.of(QuicVersion.V1, QuicVersion.V2))
            .withConfiguration(config)
            .withLogger(new SysOutLogger())
            .build();
        Path root = Path.of(options.get("--root"));
        if (alpn().equals("h3")) {
            connector.registerApplicationProtocol("h3", new Http3ApplicationProtocolFactory((request, response) -> {
                Path file = root.resolve(request.path().substring(1));
                response.setStatus(Files.isRegularFile(file) ? 200 : 404);
                if (Files.isRegularFile(file)) {
                    Files.copy(file, response.getOutputStream());
                }
            }));
        } else {
            connector.registerApplicationProtocol(alpn(), new Files09(root));
        }
        connector.start();
        System.out.println("listening on " + options.get("--listen"));
    }

    /** The certificates and their key, which kwik reads itself only if it is one of RSA. */
    private KeyStore identity() throws Exception {
        String pem = Files.readString(Path.of(options.get("--key"))).replaceAll("-----[^-]*-----|\\s", "");
        var key = KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem)));
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (InputStream file = new FileInputStream(options.get("--cert"))) {
            var chain = CertificateFactory.getInstance("X.509").generateCertificates(file).toArray(Certificate[]::new);
            store.setKeyEntry("peer", key, PASSWORD, chain);
        }
        return store;
    }

    /** Serves files as hq-interop does: `GET /NAME`, and the answer is the file. */
    private static final class Files09 implements ApplicationProtocolConnectionFactory {
        private final Path root;
        private final ExecutorService workers = Executors.newCachedThreadPool();

        private Files09(Path root) {
            this.root = root;
        }

        @Override
        public ApplicationProtocolConnection createConnection(String protocol, QuicConnection connection) {
            return new ApplicationProtocolConnection() {
                @Override
                public void acceptPeerInitiatedStream(QuicStream stream) {
                    workers.submit(() -> answer(stream));
                }
            };
        }

        private void answer(QuicStream stream) {
            try (OutputStream out = stream.getOutputStream()) {
                String request = new String(stream.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                Files.copy(root.resolve(request.strip().substring("GET /".length())), out);
            } catch (IOException | RuntimeException error) {
                System.err.println("request: " + error);
            }
        }
    }

    private void fetch() throws Exception {
        refuse("--ecn");
        int seconds = Integer.parseInt(options.getOrDefault("--timeout", "60"));
        Thread watch = new Thread(() -> {
            try {
                Thread.sleep(1000L * seconds);
            } catch (InterruptedException stopped) {
                return;
            }
            fail(1, "timeout");
        });
        watch.setDaemon(true);
        watch.start();
        if (has("--each")) {
            for (String url : urls) {
                fetchAll(List.of(url), null);
            }
        } else if (has("--resume") || has("--early-data")) {
            QuicSessionTicket ticket = fetchAll(urls.subList(0, 1), null);
            if (ticket == null) {
                fail(1, "the server gave no ticket");
            }
            fetchAll(urls.subList(1, urls.size()), ticket);
        } else {
            fetchAll(urls, null);
        }
        System.exit(0);
    }

    private QuicClientConnection.Builder builder(URI uri) throws Exception {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        try (InputStream file = new FileInputStream(options.get("--ca"))) {
            trusted.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        // It compares names of certificates with host names alone, so the address is that of a "proxy".
        QuicClientConnection.Builder builder = QuicClientConnection.newBuilder()
            .uri(URI.create("https://localhost:" + uri.getPort()))
            .proxy(uri.getHost().replaceAll("[\\[\\]]", ""))
            .version(QuicVersion.V1)
            .applicationProtocol(alpn())
            .customTrustStore(trusted)
            .logger(new SysOutLogger())
            .connectTimeout(Duration.ofSeconds(IDLE_SECONDS))
            .maxIdleTimeout(Duration.ofSeconds(IDLE_SECONDS));
        if (has("--v2")) {
            builder.preferredVersion(QuicVersion.V2);
        }
        if (has("--chacha20")) {
            builder.cipherSuite(CipherSuite.TLS_CHACHA20_POLY1305_SHA256);
        }
        String keys = System.getenv("SSLKEYLOGFILE");
        if (keys != null) {
            builder.secrets(Path.of(keys));
        }
        return builder;
    }

    /** Fetches files over one connection; returns a ticket of it, if there is one. */
    private QuicSessionTicket fetchAll(List<String> names, QuicSessionTicket ticket) throws Exception {
        QuicClientConnection.Builder builder = builder(URI.create(names.get(0)));
        if (ticket != null) {
            builder.sessionTicket(ticket);
        }
        QuicClientConnection connection = builder.build();
        boolean isEarly = ticket != null && has("--early-data");
        List<QuicStream> early = List.of();
        if (isEarly) {
            List<StreamEarlyData> requests = new ArrayList<>();
            for (String name : names) {
                requests.add(new StreamEarlyData(request(name), true));
            }
            early = connection.connect(requests);
        } else {
            connection.connect();
        }
        if (has("--key-update") || has("--migrate")) {
            later((QuicClientConnectionImpl) connection);
        }
        HttpClient http = alpn().equals("h3")
            ? new Http3SingleConnectionClient(connection, Duration.ofSeconds(IDLE_SECONDS), 1_000_000L) : null;
        ExecutorService workers = Executors.newFixedThreadPool(AT_ONCE);
        List<Future<?>> tasks = new ArrayList<>();
        for (int at = 0; at < names.size(); at++) {
            String name = names.get(at);
            QuicStream stream = isEarly && at < early.size() ? early.get(at) : null;
            tasks.add(workers.submit(() -> {
                fetchOne(connection, http, name, stream);
                return null;
            }));
        }
        for (Future<?> task : tasks) {
            task.get();
        }
        workers.shutdown();
        for (int tries = 0; ticket == null && tries < 20 && connection.getNewSessionTickets().isEmpty(); tries++) {
            Thread.sleep(has("--resume") || has("--early-data") ? 50 : 0);
        }
        List<QuicSessionTicket> tickets = connection.getNewSessionTickets();
        connection.closeAndWait(Duration.ofSeconds(1));
        return tickets.isEmpty() ? null : tickets.get(0);
    }

    private static byte[] request(String url) {
        return ("GET " + URI.create(url).getPath() + "\r\n").getBytes(StandardCharsets.UTF_8);
    }

    private void fetchOne(QuicClientConnection connection, HttpClient http, String url, QuicStream begun) throws Exception {
        Path file = Path.of(options.get("--out")).resolve(URI.create(url).getPath().substring(1));
        if (http != null) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(url)).build();
            int status = http.send(request, HttpResponse.BodyHandlers.ofFile(file)).statusCode();
            if (status != 200) {
                throw new IOException(url + ": status " + status);
            }
            return;
        }
        QuicStream stream = begun;
        if (stream == null) {
            stream = connection.createStream(true);
            try (OutputStream out = stream.getOutputStream()) {
                out.write(request(url));
            }
        }
        try (OutputStream out = Files.newOutputStream(file)) {
            stream.getInputStream().transferTo(out);
        }
    }

    /** Updates the keys, or moves to another port, 0.3 s after the handshake. */
    private void later(QuicClientConnectionImpl connection) {
        var timer = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
        timer.schedule(has("--key-update") ? connection::updateKeys : connection::changeAddress, 300, TimeUnit.MILLISECONDS);
    }
}
