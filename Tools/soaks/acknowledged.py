#!/usr/bin/env python3
"""Writers send records to a service that dies by SIGKILL in the middle of it, again and again.

usage: acknowledged.py DIPTYCH KILLS SEED

After each kill the service comes up at once, at the same port, and serves all that it acknowledged
before: each record is as its last acknowledged write left it, or as a later one did whose answer was
lost. The file is sound by plain SQL, and its counters say what a look at each record says.
"""

import collections, contextlib, http.client, json, os, random, signal, sqlite3, subprocess, sys
import tempfile, threading, time

WRITERS = 8
CONTAINER = "iCloud.local.diptych"
PATH = f"/database/1/{CONTAINER}/development/private/"
ZONE = {"zoneName": "z"}


class Service:
    def __init__(self, program, folder):
        self.program, self.folder, self.port = program, folder, 0
        self.data = os.path.join(folder, "data")
        self.ready = os.path.join(folder, "ready.json")
        self.start()
        with open(os.path.join(self.data, CONTAINER + ".tokens")) as file:
            words = dict(line.strip().split(": ", 1) for line in file
                         if line.startswith(("api: ", "user: ")))
        self.headers = {"X-Diptych-API-Token": words["api"],
                        "X-Diptych-User-Token": words["user"]}

    def start(self):
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.ready)
        with open(os.path.join(self.folder, "errors.log"), "a") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--data", self.data, "--listen",
                 f"127.0.0.1:{self.port}", "--tls", "off", "--rate", "1000000000",
                 "--ready-file", self.ready, "--quiet"], stdout=subprocess.DEVNULL, stderr=log)
        for _ in range(1200):
            if os.path.exists(self.ready) and os.path.getsize(self.ready):
                break
            if self.process.poll() is not None:
                sys.exit(f"the service ended with status {self.process.returncode}")
            time.sleep(0.02)
        with open(self.ready) as file:
            self.port = json.load(file)["port"]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()

    def ask(self, connection, operation, body):
        connection.request("POST", PATH + operation, json.dumps(body), self.headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


class Writer(threading.Thread):
    """Sends requests of one to five records, atomic or not, until told to stop."""

    def __init__(self, service, number, seed):
        super().__init__(daemon=True)
        self.service, self.number = service, number
        self.random = random.Random(seed * 100 + number)
        self.acknowledged, self.sent = {}, {}
        self.errors, self.is_over, self.count = collections.Counter(), False, 0

    def run(self):
        connection = None
        while not self.is_over:
            try:
                connection = connection or http.client.HTTPConnection(
                    "127.0.0.1", self.service.port, timeout=30)
                self.write(connection)
            except (OSError, http.client.HTTPException) as error:
                self.errors[type(error).__name__] += 1
                if connection:
                    connection.close()
                connection = None
                time.sleep(0.01)

    def write(self, connection):
        names = [f"w{self.number}-{self.random.randrange(200)}"
                 for _ in range(self.random.randint(1, 5))]
        self.count += 1
        text = f"{self.count} " + "x" * self.random.randrange(500)
        operations = [
            {"operationType": "forceReplace", "record": {
                "recordName": name, "recordType": "Note", "fields": {"text": {"value": text}}}}
            for name in dict.fromkeys(names)]
        for name in names:
            self.sent[name] = self.count
        status, answer = self.service.ask(connection, "records/modify", {
            "zoneID": ZONE, "atomic": True, "operations": operations})
        if status != 200:
            self.errors[answer.get("serverErrorCode", status)] += 1
            return
        for record in answer["records"]:
            self.acknowledged[record["recordName"]] = self.count


def check(service, writers):
    broken = []
    # The one container's file; the service's own is looked at by the service.
    folder = os.path.join(service.data, "records.sqlite.containers")
    path, = (os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".sqlite"))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for found, in connection.execute("PRAGMA integrity_check"):
            if found != "ok":
                broken.append(f"the file is damaged: {found}")
        counted = connection.execute("SELECT total(records), total(bytes) FROM zone_usage").fetchone()
        looked = connection.execute(
            "SELECT count(*), total(length(fields)) FROM records WHERE deleted = 0").fetchone()
        if tuple(counted) != tuple(looked):
            broken.append(f"the counters say {counted}, the records {looked}")
    found = {}
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    for writer in writers:
        names = sorted(writer.sent)
        for start in range(0, len(names), 200):
            _, answer = service.ask(connection, "records/lookup", {
                "zoneID": ZONE, "records": [{"recordName": n} for n in names[start:start + 200]]})
            for record in answer["records"]:
                if "fields" in record:
                    found[record["recordName"]] = int(
                        record["fields"]["text"]["value"].split(" ")[0])
        for name, number in writer.acknowledged.items():
            if found.get(name, 0) < number:
                broken.append(f"{name}: write {number} was acknowledged, {found.get(name)} is there")
    return broken


def main():
    program, kills, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    print(f"seed {seed}", flush=True)
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="diptych-acknowledged-") as folder:
        service = Service(program, folder)
        try:
            service.ask(http.client.HTTPConnection("127.0.0.1", service.port), "zones/modify", {
                "operations": [{"operationType": "create", "zone": {"zoneID": ZONE}}]})
            writers = [Writer(service, number, seed) for number in range(WRITERS)]
            for writer in writers:
                writer.start()
            for _ in range(kills):
                time.sleep(draw.uniform(0.02, 0.4))
                service.kill()
                service.start()
            time.sleep(0.5)
            for writer in writers:
                writer.is_over = True
            for writer in writers:
                writer.join(60)
            broken = check(service, writers)
        finally:
            service.end()
    errors = sum((writer.errors for writer in writers), collections.Counter())
    told = ", ".join(f"{count} {name}" for name, count in sorted(errors.items(), key=str))
    print(f"{kills} kills, {sum(writer.count for writer in writers)} requests sent, "
          f"{sum(len(writer.acknowledged) for writer in writers)} records acknowledged; "
          f"interrupted: {told}")
    for line in broken:
        print("BROKEN", line)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
