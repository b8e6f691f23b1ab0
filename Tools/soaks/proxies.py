#!/usr/bin/env python3
"""A service on loopback behind nginx and Caddy, each with its file of Tools/packaging.

usage: proxies.py DIPTYCH [nginx] [caddy]

Prints for each proxy what was tried and how long it took. Where an answer is not as it should be,
a body is collected instead of passed on, or a proxy's memory grows with a body, it fails.
"""

import base64, hashlib, http.client, json, os, re, select, shutil, socket, ssl, subprocess, sys, tempfile
import threading, time

CONTAINER = "iCloud.local.diptych"
PATH = f"/database/1/{CONTAINER}/development/private/"
ZONE = {"zoneName": "notes"}
UPLOAD_BYTES = 100 << 20
PIECE = 1 << 20
# What a proxy may take more while a body of 100 MB passes.
GROWTH_MAX = 40 << 20


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_for(test, what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if test():
                return
        except OSError:
            pass
        time.sleep(0.05)
    sys.exit(f"{what} did not come up")


def resident(process):
    """Bytes of a process and its children."""
    pids = [process.pid]
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    if int(file.read().rsplit(")", 1)[1].split()[1]) == process.pid:
                        pids.append(int(name))
            except (OSError, IndexError):
                pass
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm") as file:
                total += int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            pass
    return total


class Service:
    def __init__(self, program, folder):
        ready = os.path.join(folder, "ready.json")
        self.data = os.path.join(folder, "data")
        self.log = open(os.path.join(folder, "service.log"), "w")
        self.process = subprocess.Popen(
            [program, "serve", "--data", self.data, "--listen", "127.0.0.1:0", "--tls", "off",
             "--trusted-proxy", "127.0.0.1", "--ready-file", ready],
            stdout=self.log, stderr=self.log)
        wait_for(lambda: os.path.exists(ready) and os.path.getsize(ready), "the service")
        with open(ready) as file:
            self.port = json.load(file)["port"]
        with open(os.path.join(self.data, f"{CONTAINER}.tokens")) as file:
            tokens = dict(line.strip().split(": ", 1) for line in file
                          if line.startswith(("api: ", "user: ")))
        self.headers = {"X-Diptych-API-Token": tokens["api"],
                        "X-Diptych-User-Token": tokens["user"]}


def certificate(folder):
    pem, key = os.path.join(folder, "proxy.crt"), os.path.join(folder, "proxy.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2",
                    "-keyout", key, "-out", pem], check=True, stderr=subprocess.DEVNULL)
    return pem, key


def packaged(name):
    with open(os.path.join(os.path.dirname(__file__), "../packaging", name)) as file:
        return file.read()


def nginx(folder, port, service):
    pem, key = certificate(folder)
    server = packaged("nginx.conf").replace("server 127.0.0.1:8443;", f"server 127.0.0.1:{service};")
    server = server.replace("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;")
    server = re.sub(r"ssl_certificate .*;", f"ssl_certificate {pem};", server)
    server = re.sub(r"ssl_certificate_key .*;", f"ssl_certificate_key {key};", server)
    places = "\n".join(f"{name}_temp_path {folder}/{name};"
                       for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    configuration = os.path.join(folder, "nginx.conf")
    with open(configuration, "w") as file:
        file.write(f"daemon off;\nworker_processes 1;\npid {folder}/pid;\n"
                   f"error_log {folder}/errors.log;\nevents {{ worker_connections 256; }}\n"
                   f"http {{\naccess_log off;\n{places}\n{server}\n}}\n")
    return subprocess.Popen(["nginx", "-p", folder, "-c", configuration]), pem


def caddy(folder, port, service):
    pem, key = certificate(folder)
    site = packaged("Caddyfile").replace("127.0.0.1:8443 {", f"127.0.0.1:{service} {{")
    site = site.replace("records.example.org {", f"https://localhost:{port} {{\n\ttls {pem} {key}", 1)
    configuration = os.path.join(folder, "Caddyfile")
    with open(configuration, "w") as file:
        file.write("{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n" + site)
    environment = dict(os.environ, XDG_DATA_HOME=folder, XDG_CONFIG_HOME=folder, HOME=folder)
    log = open(os.path.join(folder, "caddy.log"), "w")
    return subprocess.Popen(["caddy", "run", "--config", configuration, "--adapter", "caddyfile"],
                            stdout=log, stderr=log, env=environment), pem


class Trial:
    def __init__(self, name, proxy, port, pem, service):
        self.name, self.proxy, self.port, self.service = name, proxy, port, service
        self.context = ssl.create_default_context(cafile=pem)

    def connect(self, seconds=120):
        return http.client.HTTPSConnection("localhost", self.port, context=self.context,
                                           timeout=seconds)

    def call(self, method, path, body=None, headers=None):
        connection = self.connect()
        connection.request(method, path, body, {**self.service.headers, **(headers or {})})
        answer = connection.getresponse()
        found = answer.status, dict((k.lower(), v) for k, v in answer.getheaders()), answer.read()
        connection.close()
        return found

    def ask(self, operation, body):
        status, _, text = self.call("POST", PATH + operation, json.dumps(body),
                                    {"Content-Type": "application/json"})
        if status != 200:
            sys.exit(f"{self.name}: {operation} is answered {status}: {text[:300]}")
        return json.loads(text)

    def write(self, name):
        record = {"recordName": name, "recordType": "Note", "fields": {"text": {"value": name}}}
        self.ask("records/modify", {"zoneID": ZONE, "operations": [
            {"operationType": "forceUpdate", "record": record}]})
        return time.monotonic()

    def say(self, what):
        print(f"{self.name:6} {what}", flush=True)

    def require(self, isTrue, what):
        if not isTrue:
            sys.exit(f"{self.name}: {what}")

    # What is tried

    def waiting(self):
        made = self.ask("zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": ZONE}}]})
        token = made["zones"][0]["syncToken"]
        heard = {}

        def listen():
            heard["answer"] = self.ask("changes/zone", {
                "waitSeconds": 60, "zones": [{"zoneID": ZONE, "syncToken": token}]})
            heard["at"] = time.monotonic()

        listener = threading.Thread(target=listen)
        listener.start()
        # Longer than a proxy holds anything back by itself.
        time.sleep(3)
        self.require("at" not in heard, "a request that waits was answered before there was news")
        written = self.write("n1")
        listener.join(90)
        names = [r["recordName"] for r in heard["answer"]["zones"][0]["records"]]
        self.require(names == ["n1"], f"who waited heard of {names}")
        self.say(f"a request that waits hears {1000 * (heard['at'] - written):.0f} ms after the write's answer")

    def events(self):
        connection = self.connect()
        connection.request("GET", PATH + "changes/stream?zoneName=notes", None, self.service.headers)
        answer = connection.getresponse()
        self.require(answer.status == 200, f"changes/stream is answered {answer.status}")

        def event():
            lines = []
            while True:
                line = answer.readline().decode().rstrip("\n")
                if line.startswith("data: "):
                    lines.append(line)
                if not line and lines:
                    return time.monotonic(), lines[0]
        event()
        delays = []
        for number in range(5):
            written = self.write(f"e{number}")
            at, text = event()
            self.require(f"e{number}" in text, "an event is not of its write")
            delays.append(1000 * (at - written))
        connection.close()
        self.say(f"events come {max(delays):.0f} ms after the write's answer at the latest, of 5")

    def address(self):
        upload = self.ask("assets/upload", {"tokens": [{"fieldName": "a"}]})
        url = upload["tokens"][0]["url"]
        base = f"https://localhost:{self.port}"
        self.require(url.startswith(base + "/"), f"an address is not the proxy's: {url}")
        return url[len(base):]

    def uploads(self):
        piece = os.urandom(PIECE)
        whole = hashlib.sha256()
        for _ in range(UPLOAD_BYTES // PIECE):
            whole.update(piece)
        digest = base64.b64encode(whole.digest()).decode()
        before = resident(self.proxy)
        peak = before
        heads = {"Repr-Digest": f"sha-256=:{digest}:", "Upload-Length": str(UPLOAD_BYTES)}
        path = self.address()

        def send(method, offset, end, more):
            nonlocal peak
            connection = self.connect()
            connection.putrequest(method, path)
            for name, value in {**heads, **more, "Content-Length": UPLOAD_BYTES - offset}.items():
                connection.putheader(name, str(value))
            connection.endheaders()
            for number in range(offset // PIECE, end // PIECE):
                connection.send(piece)
                if number % 10 == 0:
                    peak = max(peak, resident(self.proxy))
            if end < UPLOAD_BYTES:
                connection.close()
                return None
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

        began = time.monotonic()
        send("POST", 0, UPLOAD_BYTES // 2, {})
        # What passed is there, and no more comes; a proxy's own disk would have it instead.
        offset, last = -1, -2
        while offset != last:
            last = offset
            time.sleep(0.5)
            status, told, _ = self.call("HEAD", path, headers=heads)
            self.require(status == 204, f"HEAD of an upload is answered {status}")
            offset = int(told["upload-offset"])
        self.require(offset >= UPLOAD_BYTES // 4, f"of 50 MB that were sent {offset} bytes passed")
        status, told, _ = self.call("PATCH", path, b"wrong", {
            **heads, "Upload-Offset": str(offset + 1), "Upload-Complete": "?0"})
        self.require(status == 409 and told["upload-offset"] == str(offset),
                     f"an offset that is not there is answered {status}")
        connection = self.connect()
        connection.putrequest("PATCH", path)
        for name, value in {**heads, "Upload-Offset": offset, "Upload-Complete": "?1",
                            "Content-Length": UPLOAD_BYTES - offset}.items():
            connection.putheader(name, str(value))
        connection.endheaders()
        connection.send(piece[offset % PIECE:])
        for number in range(offset // PIECE + 1, UPLOAD_BYTES // PIECE):
            connection.send(piece)
            if number % 10 == 0:
                peak = max(peak, resident(self.proxy))
        answer = connection.getresponse()
        taken = json.loads(answer.read())
        self.require(answer.status == 200, f"the rest of an upload is answered {answer.status}: {taken}")
        seconds = time.monotonic() - began
        self.require(taken["singleFile"]["fileChecksum"] == digest, "another content is there")
        record = {"recordName": "big", "recordType": "Picture",
                  "fields": {"a": {"value": taken["singleFile"], "type": "ASSETID"}}}
        reply = self.ask("records/modify", {"zoneID": ZONE, "operations": [
            {"operationType": "forceUpdate", "record": record}]})
        url = reply["records"][0]["fields"]["a"]["value"]["downloadURL"]
        connection = self.connect()
        connection.request("GET", url[url.index("/assets"):])
        answer, back = connection.getresponse(), hashlib.sha256()
        while True:
            bytes = answer.read(PIECE)
            if not bytes:
                break
            back.update(bytes)
            peak = max(peak, resident(self.proxy))
        self.require(back.digest() == whole.digest(), "another content came back")
        self.require(peak - before < GROWTH_MAX, f"the proxy grew by {(peak - before) >> 20} MB")
        self.say(f"100 MB went up, cut at {offset >> 20} MB and gone on with, in {seconds:.1f} s, and came "
                 f"back; the proxy grew by {(peak - before) >> 20} MB")

    def limits(self):
        status, _, _ = self.call("GET", "/healthz", headers={"X-Long": "x" * 6000})
        self.require(status == 200, f"a head of 6 kB is answered {status}")
        try:
            status, _, _ = self.call("GET", "/healthz", headers={"X-Long": "x" * 2_000_000})
        except OSError:
            status = "with the end of the connection"
        self.require(status not in (200, 500, 502), f"a head of 2 MB is answered {status}")
        connection = self.connect(30)
        connection.putrequest("POST", self.address())
        connection.putheader("Content-Length", str(300 << 20))
        connection.endheaders()
        sent = 0
        try:
            # As clients do: on, until there is an answer.
            while sent < 300 and not select.select([connection.sock], [], [], 0)[0]:
                connection.send(b"x" * PIECE)
                sent += 1
            large = connection.getresponse().status
        except OSError:
            large = "with the end of the connection"
        self.require(large == 413 or isinstance(large, str), f"300 MB are answered {large}")
        hidden, _, _ = self.call("GET", "/readyz")
        self.require(hidden == 404, f"/readyz is answered {hidden}")
        self.say(f"a head of 2 MB is answered {status}, an upload of 300 MB {large} "
                 f"after {sent}, /readyz 404")


def main():
    program = os.path.abspath(sys.argv[1])
    makers = {"nginx": nginx, "caddy": caddy}
    names = sys.argv[2:] or list(makers)
    tried = 0
    for name in names:
        if name not in makers:
            sys.exit(__doc__)
        if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin"):
            print(f"{name} is not installed; Tools/setup soaks does that. Left out.")
            continue
        os.environ["PATH"] += ":/usr/sbin"
        with tempfile.TemporaryDirectory(prefix="diptych-proxies-") as folder:
            service = Service(program, folder)
            port = free_port()
            proxy, pem = makers[name](folder, port, service.port)
            try:
                trial = Trial(name, proxy, port, pem, service)
                wait_for(lambda: trial.call("GET", "/healthz")[0] == 200, name)
                trial.waiting()
                trial.events()
                trial.uploads()
                trial.limits()
                tried += 1
            finally:
                for process in (proxy, service.process):
                    process.terminate()
                    process.wait(60)
    print(f"{tried} of {len(names)} proxies tried.")


main()
