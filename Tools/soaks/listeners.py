#!/usr/bin/env python3
"""Requests that wait for changes, thousands at once, of one service on loopback without TLS.

usage: listeners.py DIPTYCH COUNT

Prints the service's memory before and with them, its processor time while nothing happens, and how
long after a write to each user's database the first and the last listener have their answer.
Memory past MEMORY_MAX for 5,000 (and as much less for fewer), or a listener that hears nothing, is
a failure.
"""

import json, os, re, resource, selectors, socket, subprocess, sys, tempfile, time

MEMORY_MAX = 150 << 20
OF_USER = 30
CONTAINER = "iCloud.local.diptych"
PATH = f"/database/1/{CONTAINER}/development/private/"
IDLE_SECONDS = 5


class Service:
    def __init__(self, program, count):
        self.program = program
        self.folder = tempfile.TemporaryDirectory(prefix="diptych-listeners-")
        ready = os.path.join(self.folder.name, "ready.json")
        self.data = os.path.join(self.folder.name, "data")
        self.log = open(os.path.join(self.folder.name, "log"), "w")
        self.process = subprocess.Popen(
            [program, "serve", "--data", self.data, "--listen", "127.0.0.1:0", "--tls", "off",
             "--connections", str(count + 500), "--listeners", str(count + 100), "--metrics", "0",
             "--ready-file", ready], stdout=self.log, stderr=self.log)
        for _ in range(600):
            if os.path.exists(ready) and os.path.getsize(ready):
                break
            if self.process.poll() is not None:
                sys.exit("the service did not come up")
            time.sleep(0.05)
        with open(ready) as file:
            facts = json.load(file)
        self.port = facts["port"]
        self.metrics = int(re.search(r":(\d+)/", facts["metrics"]).group(1))

    def users(self, count):
        """Tokens of so many users, by the command."""
        found = []
        for number in range(count):
            tokens = os.path.join(self.folder.name, f"user{number}.tokens")
            for words in (["users", "--add", f"u{number}"],
                          ["tokens", "--issue", f"u{number}", "--container", CONTAINER,
                           "--token-file", tokens]):
                subprocess.run([self.program, "service", *words, "--data", self.data],
                               check=True, stdout=subprocess.DEVNULL)
            with open(tokens) as file:
                found.append(dict(line.strip().split(": ", 1) for line in file
                                  if line.startswith(("api: ", "user: "))))
        return found

    def figure(self, name):
        text = self.ask(self.metrics, "GET /metrics HTTP/1.0\r\nHost: h\r\n\r\n")
        return float(re.search(rf"^{name} (\S+)$", text, re.MULTILINE).group(1))

    def memory(self):
        return int(self.figure("process_resident_memory_bytes"))

    def ask(self, port, text):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(text.encode())
            answer = b""
            while piece := connection.recv(65536):
                answer += piece
        return answer.decode()

    def request(self, user, operation, body, closes=True):
        body = json.dumps(body)
        return (f"POST {PATH}{operation} HTTP/1.1\r\nHost: h\r\n"
                f"X-Diptych-API-Token: {user['api']}\r\nX-Diptych-User-Token: {user['user']}\r\n"
                + ("Connection: close\r\n" if closes else "")
                + f"Content-Length: {len(body)}\r\n\r\n{body}")

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()
        self.folder.cleanup()


def zone(user_zone):
    return {"zoneID": {"zoneName": user_zone}}


class Ears:
    """Notes when each listener is answered, in seconds after the write to its user began."""

    def __init__(self, listeners):
        self.selector = selectors.DefaultSelector()
        self.began, self.heard, self.silent = {}, [], len(listeners)
        for number, connection in enumerate(listeners):
            connection.setblocking(False)
            self.selector.register(connection, selectors.EVENT_READ, number)

    def listen(self, seconds):
        for key, _ in self.selector.select(seconds):
            if key.fileobj.recv(65536).startswith(b"HTTP/1.1 200"):
                self.heard.append(time.monotonic() - self.began[key.data // OF_USER])
            self.selector.unregister(key.fileobj)
            self.silent -= 1

    def listen_to_all(self):
        end = time.monotonic() + 60
        while self.silent and time.monotonic() < end:
            self.listen(1)
        return sorted(self.heard)


def run(service, count):
    users = service.users((count + OF_USER - 1) // OF_USER)
    tokens = []
    for user in users:
        make = {"operations": [{"operationType": "create", "zone": zone("z")}]}
        answer = service.ask(service.port, service.request(user, "zones/modify", make))
        tokens.append(re.search(r'"syncToken":"([^"]+)"', answer).group(1))
    before = service.memory()
    listeners = []
    for number in range(count):
        user, token = users[number // OF_USER], tokens[number // OF_USER]
        wait = {"waitSeconds": 60, "zones": [{**zone("z"), "syncToken": token}]}
        connection = socket.create_connection(("127.0.0.1", service.port))
        connection.sendall(service.request(user, "changes/zone", wait, closes=False).encode())
        listeners.append(connection)
    while service.figure("diptych_http_held_requests") < count:
        time.sleep(0.1)
    memory, processor = service.memory(), service.figure("process_cpu_seconds_total")
    time.sleep(IDLE_SECONDS)
    idle = (service.figure("process_cpu_seconds_total") - processor) / IDLE_SECONDS
    ears = Ears(listeners)
    record = {"recordName": "r", "recordType": "Note", "fields": {"text": {"value": "x"}}}
    for number, user in enumerate(users):
        save = {**zone("z"), "operations": [{"operationType": "create", "record": record}]}
        ears.began[number] = time.monotonic()
        service.ask(service.port, service.request(user, "records/modify", save))
        ears.listen(0)
    heard = ears.listen_to_all()
    for connection in listeners:
        connection.close()
    print(f"{count} listeners of {len(users)} users")
    print(f"  memory   {before / (1 << 20):.0f} MiB before, {memory / (1 << 20):.0f} MiB with "
          f"them: {(memory - before) / count / 1024:.1f} KiB each")
    print(f"  idle     {idle * 100:.1f} % of a processor")
    print(f"  heard    {len(heard)}, from {heard[0] * 1e3:.1f} to {heard[-1] * 1e3:.1f} ms after "
          "the write began")
    return len(heard) == count and memory <= MEMORY_MAX * max(count, 2500) / 5000


def main():
    program, count = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, count + 2000), most))
    service = Service(program, count)
    try:
        return 0 if run(service, count) else 1
    finally:
        service.end()


if __name__ == "__main__":
    sys.exit(main())
