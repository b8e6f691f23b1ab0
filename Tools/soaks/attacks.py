#!/usr/bin/env python3
"""Attacks a service of its own on loopback and prints what the others notice of it.

usage: attacks.py DIPTYCH [NAME ...]      all attacks unless some are named

Each attack starts a fresh `diptych serve`, works for at most SECONDS (20), and ends. Beside it
/health is asked five times a second from another address, on a new connection each time. A line
says the median and the worst of these answers, and the memory of the service: at its peak, and
ten seconds after the attack. The worst answer past LATENCY_MAX or memory past MEMORY_MAX is a
failure, and so is a /health that is not answered.
"""

import base64, http.client, json, os, resource, socket, ssl, subprocess, sys, tempfile
import threading, time, zlib

SECONDS = 20
LATENCY_MAX = 5.0
MEMORY_MAX = 400 << 20
CONTAINER = "iCloud.local.diptych"
DATABASE = f"/database/1/{CONTAINER}/development/private/"


class Service:
    """A service with fresh records, and words to speak with it."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory(prefix="diptych-attack-")
        ready = os.path.join(self.folder.name, "ready.json")
        self.log = open(os.path.join(self.folder.name, "log"), "w")
        self.process = subprocess.Popen(
            [program, "serve", "--data", os.path.join(self.folder.name, "data"), "--listen",
             "127.0.0.1:0", "--ready-file", ready], stdout=self.log, stderr=self.log)
        for _ in range(200):
            if os.path.exists(ready):
                break
            time.sleep(0.1)
        facts = json.load(open(ready))
        self.port = facts["port"]
        self.context = ssl.create_default_context(cafile=facts["caFile"])
        words = dict(
            line.split(": ", 1) for line in open(facts["tokenFile"]).read().splitlines()
            if ": " in line and not line.startswith("#"))
        self.headers = {"X-Diptych-API-Token": words["api"],
                        "X-Diptych-User-Token": words["user"]}

    def connect(self, source="127.0.0.1", timeout=60):
        return http.client.HTTPSConnection(
            "127.0.0.1", self.port, context=self.context, timeout=timeout,
            source_address=(source, 0))

    def socket(self, timeout=60):
        """A connection of TLS for what no proper client sends."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=timeout)
        return self.context.wrap_socket(plain, server_hostname="127.0.0.1")

    def ask(self, operation, body, connection=None, headers=None):
        """Returns the status and the length of the answer, or why there is none."""
        connection = connection or self.connect()
        try:
            connection.request("POST", DATABASE + operation, json.dumps(body),
                               self.headers if headers is None else headers)
            answer = connection.getresponse()
            return answer.status, len(answer.read())
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            return type(error).__name__, 0

    def fill(self, count, size, kind="Note"):
        self.ask("zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": {"zoneName": "z"}}}]})
        connection = self.connect()
        batch = max(1, min(400, (5 << 20) // (size * 4 // 3 + 200)))
        value = {"value": base64.b64encode(os.urandom(size)).decode(), "type": "BYTES"}
        for start in range(0, count, batch):
            names = range(start, min(count, start + batch))
            self.ask("records/modify", {
                "zoneID": {"zoneName": "z"}, "desiredKeys": [], "operations": [
                    {"operationType": "forceUpdate", "record": {
                        "recordName": f"r{name}", "recordType": kind, "fields": {"v": value}}}
                    for name in names]}, connection)

    def memory(self, field):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith(field):
                return int(line.split()[1]) << 10
        return 0

    def end(self):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()
        self.folder.cleanup()


class Watch(threading.Thread):
    """Asks /health until it is told to stop."""

    def __init__(self, service):
        super().__init__(daemon=True)
        self.service, self.seconds, self.failures = service, [], 0
        self.isEnding = False
        self.start()

    def run(self):
        while not self.isEnding:
            began = time.monotonic()
            try:
                connection = self.service.connect("127.0.0.2", timeout=90)
                connection.request("GET", "/health")
                self.failures += connection.getresponse().status != 200
                connection.close()
            except OSError:
                self.failures += 1
            self.seconds.append(time.monotonic() - began)
            time.sleep(0.2)


def together(count, work, seconds=SECONDS):
    """Runs `work` on so many threads again and again, and counts what it returns."""
    outcomes, lock, end = {}, threading.Lock(), time.monotonic() + seconds

    def loop():
        while time.monotonic() < end:
            outcome = work()
            with lock:
                outcomes[outcome] = outcomes.get(outcome, 0) + 1

    threads = [threading.Thread(target=loop, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 60)
    return ", ".join(f"{key}: {value}" for key, value in sorted(outcomes.items(), key=str))


# Each attack prepares before the watch begins, and returns what to do.

def feeds(service):
    """400 entries for one zone, with a type that no record has"""
    service.fill(40_000, 20)
    entry = {"zoneID": {"zoneName": "z"}, "desiredRecordTypes": ["Nothing"]}
    return lambda: together(8, lambda: service.ask("changes/zone", {"zones": [entry] * 400})[0])


def bodies(service):
    """8 MiB without a token, on a hundred connections at a time"""
    body = b"x" * (8 << 20)

    def send():
        try:
            connection = service.connect(timeout=20)
            connection.request("POST", DATABASE + "records/modify", body)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException) as error:
            return type(error).__name__
    return lambda: together(100, send)


def held(service):
    """100 connections of one user that hold 8 MiB each but for the last byte"""
    def hold():
        size = 8 << 20
        head = f"POST {DATABASE}records/modify HTTP/1.1\r\nHost: h\r\nContent-Length: {size}\r\n"
        head += "".join(f"{key}: {value}\r\n" for key, value in service.headers.items())
        open_ones = []
        for _ in range(100):
            try:
                one = service.socket(timeout=5)
                one.sendall(head.encode() + b"\r\n" + b" " * (size - 1))
                open_ones.append(one)
            except OSError:
                pass
        time.sleep(SECONDS / 2)
        return f"{len(open_ones)} held"
    return hold


def conflicts(service):
    """400 stale updates of records of 0.9 MB, four requests at once"""
    service.fill(80, 900_000)
    stale = {"zoneID": {"zoneName": "z"}, "operations": [
        {"operationType": "update", "record": {
            "recordName": f"r{name}", "recordChangeTag": "0", "recordType": "Note"}}
        for name in range(80)]}
    return lambda: together(4, lambda: service.ask("records/modify", stale)[0])


def idle(service):
    """2,000 connections that say nothing"""
    def sit():
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4_096, limit[1]), limit[1]))
        sockets = []
        for _ in range(2_000):
            try:
                sockets.append(socket.create_connection(("127.0.0.1", service.port), timeout=5))
            except OSError:
                pass
        time.sleep(SECONDS)
        return f"{len(sockets)} opened"
    return sit


def crowd(service):
    """10,000 connections from a hundred addresses that say nothing"""
    def sit():
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(16_384, limit[1]), limit[1]))
        sockets = []
        for number in range(10_000):
            try:
                sockets.append(socket.create_connection(
                    ("127.0.0.1", service.port), 5, (f"127.0.1.{1 + number % 100}", 0)))
            except OSError:
                pass
        time.sleep(SECONDS)
        return f"{len(sockets)} opened"
    return sit


def bombs(service):
    """gzip of 0.8 MB that is 800 MB, from a user, on eight connections"""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(8 << 20)) for _ in range(100)) + packer.flush()
    headers = dict(service.headers, **{"Content-Encoding": "gzip"})

    def send():
        try:
            connection = service.connect(timeout=30)
            connection.request("POST", DATABASE + "records/modify", bomb, headers)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException) as error:
            return type(error).__name__
    return lambda: together(8, send)


def endless(service):
    """bodies in chunks that never end, from a user, on 32 connections"""
    head = f"POST {DATABASE}records/modify HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
    head += "".join(f"{key}: {value}\r\n" for key, value in service.headers.items())
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"

    def send():
        sent, end = 0, time.monotonic() + SECONDS
        try:
            one = service.socket(timeout=10)
            one.sendall(head.encode() + b"\r\n")
            while time.monotonic() < end:
                one.sendall(chunk)
                sent += len(chunk)
        except OSError:
            return f"cut off within {1 + (sent >> 24) << 4} MiB"
        return "never cut off"
    return lambda: together(32, send)


def drips(service):
    """100 heads that drip a line a second"""
    def drip():
        sockets = [service.socket() for _ in range(100)]
        for one in sockets:
            one.sendall(b"GET /health HTTP/1.1\r\n")
        alive = sockets
        for _ in range(SECONDS + 10):
            time.sleep(1)
            rest = []
            for one in alive:
                try:
                    one.sendall(b"X-A: b\r\n")
                    rest.append(one)
                except OSError:
                    pass
            alive = rest
        return f"{len(alive)} of {len(sockets)} still open"
    return drip


def framing(service):
    """heads that two readers may read differently"""
    cases = ["Content-Length: 5\r\nTransfer-Encoding: chunked", "Content-Length: 5\r\n"
             "Content-Length: 6", "Host: other", "X-A: b\0c", "Content-Length: +5"]

    def send():
        served = 0
        for case in cases:
            one = service.socket(timeout=20)
            one.sendall((f"POST /health HTTP/1.1\r\nHost: h\r\n{case}\r\n\r\n0\r\n\r\n"
                         "GET /capabilities HTTP/1.1\r\nHost: h\r\n\r\n").encode())
            answer = b""
            try:
                while piece := one.recv(65_536):
                    answer += piece
            except OSError:
                pass
            served += b"operationsPerRequest" in answer
        return f"{served} second requests served"
    return send


def arguments(service):
    """500 arguments in the address"""
    query = "&".join(f"a{number}=b" for number in range(500))

    def send():
        try:
            connection = service.connect(timeout=30)
            connection.request("POST", f"{DATABASE}records/modify?{query}", "{}")
            return connection.getresponse().status
        except (OSError, http.client.HTTPException) as error:
            return type(error).__name__
    return lambda: together(8, send, SECONDS / 2)


def guesses(service):
    """wrong tokens, as fast as they are answered"""
    wrong = {"X-Diptych-API-Token": "dpt_0_guess", "X-Diptych-User-Token": "dpt_0_guess"}
    local = threading.local()

    def guess():
        local.connection = getattr(local, "connection", None) or service.connect()
        return service.ask("users/caller", {}, local.connection, wrong)[0]
    return lambda: together(8, guess)


ATTACKS = [feeds, bodies, held, conflicts, idle, crowd, bombs, endless, drips, framing,
           arguments, guesses]


def run(program, attack):
    service = Service(program)
    try:
        work = attack(service)
        watch = Watch(service)
        time.sleep(1)
        outcome = work()
        watch.isEnding = True
        watch.join(100)
        peak = service.memory("VmHWM")
        time.sleep(10)
        after = service.memory("VmRSS")
    finally:
        service.end()
    seconds = sorted(watch.seconds)
    isGood = (seconds[-1] <= LATENCY_MAX and peak <= MEMORY_MAX and watch.failures == 0)
    print(f"{attack.__name__}: {attack.__doc__}\n"
          f"    /health median {seconds[len(seconds) // 2] * 1000:.0f} ms, worst "
          f"{seconds[-1] * 1000:.0f} ms, {watch.failures} of {len(seconds)} failed; memory peak "
          f"{peak >> 20} MB, later {after >> 20} MB\n"
          f"    {outcome}\n    {'held' if isGood else 'BROKEN'}", flush=True)
    return isGood


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__ + "\n" + "\n".join(f"    {one.__name__:10} {one.__doc__}" for one in ATTACKS))
        return 0
    names = sys.argv[2:]
    known = {one.__name__: one for one in ATTACKS}
    for name in names:
        if name not in known:
            print(f"There is no attack {name}; there are {', '.join(known)}.", file=sys.stderr)
            return 2
    results = [run(sys.argv[1], known[name]) for name in names or known]
    return 0 if all(results) else 1


sys.exit(main())
