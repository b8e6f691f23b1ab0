#!/usr/bin/env python3
"""A service and a device that watches it, made to do within minutes what they do in months.

usage: aging.py DIPTYCH COUNT [KIND]

Each kind of thing is done again and again, in ten tenths: connections that ask nothing, requests
that write one record over and over, requests of strangers, queries, zones and subscriptions that
come and go, uploads, streams and couriers whose listeners go away, and changes that the watching
device fetches, a round each. Prints what one costs in processor time in
the first tenths and in the last ones, and how the memory grew from the first tenth to the last. What
costs MOST times as much at the end, leaves more than BYTES_EACH behind, or keeps descriptors or
threads, is a failure: it would end the process some day.
"""

import contextlib, http.client, json, os, socket, subprocess, sys, tempfile, time, urllib.parse

MOST = 1.6
BYTES_EACH = 48
SPARE_BYTES = 8 << 20
# Descriptors and threads that others may have taken meanwhile: those of streams that ended just now.
HOLDINGS = 40
CONTAINER = "iCloud.local.diptych"
PATH = f"/database/1/{CONTAINER}/development/private/"
ZONE = {"zoneName": "com.apple.coredata.cloudkit.zone"}
TICKS = os.sysconf("SC_CLK_TCK")
MODEL = os.path.join(os.path.dirname(__file__), "..", "demo-model", "Library.xcdatamodel")


class Process:
    def __init__(self, words, log):
        self.log = open(log, "w")
        self.process = subprocess.Popen(words, stdout=self.log, stderr=self.log)

    def seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            words = file.read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / TICKS

    def bytes(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) << 10

    def holdings(self):
        """Descriptors and threads."""
        return [len(os.listdir(f"/proc/{self.process.pid}/{kind}")) for kind in ("fd", "task")]

    def check(self, name):
        if self.process.poll() is not None:
            sys.exit(f"{name}: the process ended with status {self.process.returncode}")

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()


class Trial:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.data = os.path.join(folder, "data")
        ready = os.path.join(folder, "ready.json")
        self.service = Process(
            [program, "serve", "--data", self.data, "--listen", "127.0.0.1:0", "--tls", "off",
             "--rate", "1000000000", "--ready-file", ready, "--quiet"],
            os.path.join(folder, "service.log"))
        for _ in range(600):
            if os.path.exists(ready) and os.path.getsize(ready):
                break
            self.service.check("starting")
            time.sleep(0.05)
        with open(ready) as file:
            self.port = json.load(file)["port"]
        self.tokens = os.path.join(self.data, CONTAINER + ".tokens")
        with open(self.tokens) as file:
            words = dict(line.strip().split(": ", 1) for line in file
                         if line.startswith(("api: ", "user: ")))
        self.headers = {"X-Diptych-API-Token": words["api"], "X-Diptych-User-Token": words["user"]}
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.device = None
        # Bytes of the device's output that were read, and the rounds in them.
        self.read = self.done = 0
        self.failures = []

    # ------------------------------------------------------------ what is done

    def connect(self, _):
        socket.create_connection(("127.0.0.1", self.port), timeout=60).close()

    def ask(self, operation, body, headers=None, status=200):
        self.connection.request(
            "POST", PATH + operation, json.dumps(body), self.headers if headers is None else headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != status:
            sys.exit(f"{operation}: {answer.status} {text[:300]}")
        return json.loads(text)

    def write(self, number):
        record = {"recordName": "one", "recordType": "CD_Tag", "fields": {
            "CD_entityName": {"value": "Tag"}, "CD_name": {"value": f"name {number}"}}}
        self.ask("records/modify", {
            "zoneID": ZONE, "operations": [{"operationType": "forceUpdate", "record": record}]})

    def knock(self, number):
        self.ask("records/modify", {}, {"X-Diptych-API-Token": f"wrong {number}"}, status=401)

    def poll(self, _):
        token = self.ask("tokens/create", {"apnsEnvironment": "development"})["apnsToken"]
        with contextlib.closing(socket.create_connection(("127.0.0.1", self.port))) as courier:
            courier.sendall(f"GET /webcourier?token={token} HTTP/1.1\r\nHost: h\r\n\r\n".encode())

    def query(self, number):
        self.ask("records/query", {"zoneID": ZONE, "query": {
            "recordType": "CD_Tag", "filterBy": [{
                "fieldName": "CD_name", "comparator": "EQUALS",
                "fieldValue": {"value": f"name {number}"}}]}})

    def zone(self, number):
        for deed in ("create", "delete"):
            self.ask("zones/modify", {"operations": [
                {"operationType": deed, "zone": {"zoneID": {"zoneName": f"zone {number % 50}"}}}]})

    def subscription(self, number):
        for deed in ("create", "delete"):
            self.ask("subscriptions/modify", {"operations": [{"operationType": deed, "subscription": {
                "subscriptionID": f"s{number % 50}", "subscriptionType": "zone",
                "zoneID": ZONE}}]})

    def asset(self, number):
        made = self.ask("assets/upload", {"zoneID": ZONE, "tokens": [
            {"recordName": "a", "recordType": "CD_Cover", "fieldName": "CD_image_ckAsset"}]})
        address = urllib.parse.urlsplit(made["tokens"][0]["url"])
        self.connection.request(
            "POST", f"{address.path}?{address.query}", f"content {number % 50}" * 20)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            sys.exit(f"an upload: {answer.status} {text[:300]}")

    def stream(self, _):
        """Opens a stream and goes away; who came before may have its place for half a second."""
        headers = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        head = b""
        for _ in range(600):
            with contextlib.closing(socket.create_connection(("127.0.0.1", self.port))) as client:
                client.sendall((f"GET {PATH}changes/stream?zoneName={ZONE['zoneName']} HTTP/1.1\r\n"
                                f"Host: h\r\n{headers}\r\n").encode())
                head = client.recv(4_000)
            if b" 503 " not in head:
                break
            time.sleep(0.05)
        if b" 200 " not in head:
            sys.exit(f"a stream was refused: {head}")

    def change(self, number):
        """Writes, and waits until the watching device has made a round."""
        before = self.rounds()
        self.write(number)
        while self.rounds() == before:
            self.device.check("watching")
            time.sleep(0.002)

    def rounds(self):
        """The rounds of the device so far, by the lines that it prints."""
        with open(self.device.log.name, "rb") as file:
            file.seek(self.read)
            text = file.read()
        end = text.rfind(b"\n") + 1
        self.read += end
        self.done += text[:end].count(b'"event":"round"')
        return self.done

    # ------------------------------------------------------------ what it costs

    def age(self, name, process, count, deed):
        seconds, held, holdings = [], [], []
        for tenth in range(10):
            before = process.seconds()
            for number in range(count // 10):
                deed(tenth * count + number)
            process.check(name)
            time.sleep(0.6)
            seconds.append((process.seconds() - before) / (count // 10))
            held.append(process.bytes())
            holdings.append(process.holdings())
        # The first tenth makes what is kept; the least of three is what others disturbed least.
        first, last = min(seconds[1:4]), min(seconds[7:10])
        grown = held[9] - held[0]
        print(f"  {name:<28}{count:>9,}{first * 1e6:>11,.0f}{last * 1e6:>11,.0f}"
              f"{last / max(first, 1e-6):>8.2f}{grown / (count * 0.9):>10,.0f}"
              f"{held[9] / (1 << 20):>9.1f} MB", flush=True)
        for kind, before, after in zip(("descriptors", "threads"), holdings[0], holdings[9]):
            if after > before + HOLDINGS:
                self.failures.append(f"{name} took {kind} from {before} to {after}")
        if last > first * MOST and last - first > 20e-6:
            self.failures.append(f"{name} cost {last / max(first, 1e-6):.1f} times as much at the end")
        if grown > BYTES_EACH * count + SPARE_BYTES:
            self.failures.append(f"{name} left {grown / (count * 0.9):,.0f} bytes each behind")

    def watch(self):
        store = os.path.join(self.folder, "device.sqlite")
        subprocess.run([self.program, "create", store, "--model", MODEL, "--quiet"], check=True,
                       stdout=subprocess.DEVNULL)
        self.device = Process(
            [self.program, "sync", store, "--model", MODEL, "--watch", "--json", "--service",
             f"http://127.0.0.1:{self.port}", "--container", CONTAINER, "--token-file",
             self.tokens], os.path.join(self.folder, "device.log"))

    def end(self):
        for process in (self.device, self.service):
            if process:
                process.end()


def main():
    program, count, kind = sys.argv[1], int(sys.argv[2]), "".join(sys.argv[3:4])
    with tempfile.TemporaryDirectory(prefix="diptych-aging-") as folder:
        trial = Trial(program, folder)
        try:
            print(f"  {'':<28}{'count':>9}{'us first':>11}{'us last':>11}{'ratio':>8}"
                  f"{'bytes':>10}{'memory':>12}")
            trial.ask("zones/modify", {"operations": [
                {"operationType": "create", "zone": {"zoneID": ZONE}}]})
            for name, share, deed in (
                    ("connections", 1, trial.connect), ("writes of a record", 1, trial.write),
                    ("strangers", 1, trial.knock), ("queries", 1, trial.query),
                    ("zones", 10, trial.zone), ("subscriptions", 10, trial.subscription),
                    ("assets", 10, trial.asset), ("streams", 10, trial.stream),
                    ("couriers", 10, trial.poll)):
                if name.startswith(kind):
                    trial.age(name, trial.service, count // share, deed)
            if "rounds".startswith(kind):
                trial.watch()
                trial.change(0)
                trial.age("rounds of a watching device", trial.device, count // 10, trial.change)
        finally:
            trial.end()
    for failure in trial.failures:
        print(failure)
    sys.exit(1 if trial.failures else 0)


main()
